package control

// A Message is one of the types below.
type Message interface {
	kind() uint8
	fields(*coder)
}

// AllRanks and NoRank stand for a rank where Start says who reads stdin.
const (
	AllRanks = -1
	NoRank   = -2
)

// Streams of a rank.
const (
	Stdout = 1
	Stderr = 2
)

// Hello is the first message of either side. The front waits for the
// supervisor's; one of another protocol or version ends the conversation.
type Hello struct {
	Protocol int
	Version  string
	Host     string // the supervisor's
	PID      int
}

// Offer follows the Hello of a supervisor that has joined over a network.
type Offer struct {
	Slots int // how many ranks its host takes; 0: any number
}

// Keep accepts such a supervisor. A host that there is no way to for Timeout
// nanoseconds is lost.
type Keep struct{ Timeout int64 }

// Refused tells such a supervisor why it is not wanted. The front closes the
// connection behind it.
type Refused struct{ Text string }

// Build has the supervisor build the Go package in directory Dir, with all
// temporary files below Scratch, which the supervisor creates, and removes when it
// ends. The front chose the name, so it can remove it should the supervisor be
// killed.
type Build struct {
	Scratch, Dir string
	Env          []string
}

// Built answers Build: Path of the binary, or, if it is empty, Output says what is
// wrong.
type Built struct {
	Dir, Path, Output string
}

// Hosts are all hosts of the job, in the order of their ranks. It comes before Start, and
// is one message to all: a list in each Start would be as long as there are hosts, for
// each of them.
type Hosts struct{ Hosts []Host }

// Start tells of the whole job but for its Hosts, and names every rank of this supervisor.
type Start struct {
	Job      string
	Size     int    // ranks in the job
	Stdin    int    // the rank that reads stdin, AllRanks or NoRank
	Bind     bool   // each rank to a core
	Core     int    // the core of this supervisor's first rank, if Bind
	Sharers  int    // ranks of the job that share this machine's cores
	Secret   []byte // the job's
	Programs []Program

	Host int // which of Hosts this supervisor's is
	// Apart has every rank count as a host of its own, so that ranks talk over the
	// network wherever they are.
	Apart    bool
	Settings Settings
}

// A Host is where the next Ranks ranks are.
type Host struct {
	Name  string
	Ranks int
}

// Settings are boot.Settings.
type Settings struct {
	Transport, Interface     string
	Loopback, Encrypt, Stats bool
	Timeout                  int64 // nanoseconds
}

// A Program is what ranks First to First+Count-1 run.
type Program struct {
	First, Count int
	Path         string // absolute
	Args         []string
	Env          []string
	Dir          string
}

// Signal sends Sig to the process group of every rank, or of those only that have
// not left.
type Signal struct {
	Sig       int
	SpareLeft bool
}

// Kill sends SIGKILL to every descendant of the supervisor.
type Kill struct{}

// Finish follows the end of the last rank: descendants that outlive their rank
// get Linger nanoseconds to end, then they are killed.
type Finish struct{ Linger int64 }

// Stdin is input for the ranks that Start chose, within StdinCredit.
type Stdin struct{ Data []byte }

// StdinEnd says that there is no more.
type StdinEnd struct{}

// Credit allows Bytes more of Output of one stream.
type Credit struct{ Rank, Stream, Bytes int }

// Started: the rank's process runs.
type Started struct{ Rank, PID int }

// NotStarted: the rank's process could not be started. Errno is the system
// call's, 0 if there is none.
type NotStarted struct {
	Rank, Errno int
	Text        string
}

// Joined: process PID has joined as the rank.
type Joined struct{ Rank, PID int }

// Left: the rank has said goodbye.
type Left struct{ Rank int }

// Lost: process PID, which had joined as the rank, closed its connection without
// saying goodbye, and the rank's own process lives on.
type Lost struct{ Rank, PID int }

// Aborted: the rank asked for the end of the job.
type Aborted struct {
	Rank, Code int
	Text       string
}

// Exited: the rank's process has ended. Times are nanoseconds.
type Exited struct {
	Rank               int
	Code               int // -1 when Signal is not 0
	Signal             int
	Why                string // "", or what has made it end
	CoreDumped         bool
	Wall, User, System int64
	MaxRSS             int64 // bytes
}

// Address is how peers reach a rank. The supervisor of the rank tells the front,
// the front the other supervisors.
type Address struct {
	Rank    int
	Address []byte
}

// Fate tells a supervisor what became of a rank elsewhere: job.State and its code.
type Fate struct{ Rank, State, Code int }

// Report holds the figures that a rank has reported.
type Report struct {
	Rank    int
	Figures []byte
}

// Output is what a rank wrote.
type Output struct {
	Rank, Stream int
	Data         []byte
}

// Closed: no more Output of this stream will come.
type Closed struct{ Rank, Stream int }

// StdinCredit allows Bytes more of Stdin.
type StdinCredit struct{ Bytes int }

// StdinClosed: nobody reads stdin any more.
type StdinClosed struct{}

// Trouble: the supervisor cannot run the job.
type Trouble struct{ Text string }

// Done is the supervisor's last message: it has no descendants and no temporary
// files any more. Killed descendants had outlived their rank.
type Done struct{ Killed int }
