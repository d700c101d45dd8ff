package tree

// An ID names a host of the tree for as long as its supervisor lives: a random
// number, and not 0.
type ID uint64

// RootID is the root's.
const RootID ID = 0

// Protocol is the number of this protocol. Greet and Refuse keep their kinds and
// layouts for ever, so that programs of different versions can refuse each other.
const Protocol = 1

// A Kind of frame. The numbers are part of the protocol.
type Kind uint8

// The kinds. Up means towards the root.
const (
	// Greet is a child's first frame on a link: who it is, and Protocol.
	Greet Kind = 1 + iota
	// Refuse answers Greet: no, because of Text. The link ends.
	Refuse
	// Attach says that this is the child's n-th attachment. Facts of all who are below
	// it came before: whoever hears of the attachment knows them.
	Attach
	// Accept answers Attach: yes. N is the failure timeout in nanoseconds; 0: the
	// parent is not attached yet, and will say it again.
	Accept
	// Beat says that the sender is there.
	Beat
	// Facts go up: who is attached where.
	Facts
	// Moving is a child's last frame: it ends the link, and does not die.
	Moving
	// Up carries a record, Data, of Host to the root, Seq of them after its first. Ack
	// says how many records of the root it has accepted. Without Data it is only that.
	Up
	// Down carries a record from the root to Host, and says how many of its records
	// the root has accepted. Without Data it is only that.
	Down
	// All carries a record from the root to every host.
	All
	// Break goes down: the way to the root was another one until now, and what came
	// over it may lack its end. Nothing is accepted before Resync.
	Break
	// Resync tells Host that the root has found the way to it: Seq of the root's
	// records are known to have arrived, those that follow come again, in order. The
	// root has accepted Ack of its records.
	Resync
	// Reject tells Host that it is not, or no longer, of the job: Text says why, ""
	// that the job is over for it. Ack is as in Down.
	Reject
	kinds
)

// A Frame is what links carry. Which fields count depends on Kind.
type Frame struct {
	Kind     Kind
	Host     ID
	Protocol uint32
	N        uint64
	Seq, Ack uint64
	Data     []byte
	Facts    []Fact
	Path     []Hop
	Text     string
}

// A Hop is a host's n-th attachment, on the way from the root to another.
type Hop struct {
	Host ID
	N    uint64
}

// A Fact is that Host is, or was, attached to Parent. Whoever learns of a higher N
// forgets the lower one, so it makes no difference on which way, how often and in
// which order facts come.
type Fact struct {
	Host, Parent ID
	N            uint64 // of Host's attachments
	Over         bool   // the link has ended
	Dead         bool   // because Host's process has: it closed without Moving
	Text         string // Host's address as Parent sees it; once Over, why it is
}

const (
	// MaxData is how long a record may be.
	MaxData = 32 << 10
	// MaxFacts is how many facts a frame may hold.
	MaxFacts = 200
	// maxText bounds texts.
	maxText = 255
)

func shortened(text string) string { return text[:min(len(text), maxText)] }

// pieces cuts data into records.
func pieces(data []byte) (records [][]byte) {
	for len(data) > 0 {
		n := min(len(data), MaxData)
		records = append(records, data[:n:n])
		data = data[n:]
	}
	return records
}
