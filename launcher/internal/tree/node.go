package tree

import "fmt"

// A Node is a host's end of the tree: it carries the host's own records, and those of
// the hosts attached to it.
//
// The own records are numbered from 0; log holds those from first on, which the root
// has not acknowledged. Of the root's records only their number counts: accepted.
//
// Invariant: what arrives while synced is, of the root's records for this host, the
// one numbered accepted. A way loses no frame but by ending, and whoever loses its
// way says Break to those below before it takes another. A Resync has passed every
// host on the way that it means before that host took another.
type Node struct {
	hub
	n        uint64 // attachments so far
	up       bool   // attached to a parent
	synced   bool
	owes     bool // accepted has not been told
	accepted uint64
	repeated uint64 // how many records will come that have been accepted
	first    uint64
	log      [][]byte
	got      [][]byte
	rejected bool
	reason   string
}

// NewNode returns a host that is not attached to anybody.
func NewNode(id ID) *Node { return &Node{hub: newHub(id)} }

// Out returns what is to be sent since the last call. The next call of any method
// may overwrite it.
func (n *Node) Out() []Out { return take(&n.out) }

// Got returns the root's records that have come since the last call.
func (n *Node) Got() [][]byte { return take(&n.got) }

func take[T any](list *[]T) []T {
	all := *list
	*list = (*list)[:0]
	return all
}

// Synced reports whether records flow.
func (n *Node) Synced() bool { return n.synced }

// Rejected reports whether the root has sent this host away, and why: "" if the job
// is over for it.
func (n *Node) Rejected() (why string, rejected bool) { return n.reason, n.rejected }

// Unacknowledged is how many records the root has not acknowledged.
func (n *Node) Unacknowledged() int { return len(n.log) }

// Children is how many hosts are attached to this one.
func (n *Node) Children() int { return len(n.children) }

// Send sends data to the root. It keeps data until the root has it.
func (n *Node) Send(data []byte) {
	for _, record := range pieces(data) {
		n.log = append(n.log, record)
		if n.synced {
			n.sendUp(len(n.log) - 1)
		}
	}
}

// sendUp sends record i of the log.
func (n *Node) sendUp(i int) {
	n.owes = false
	n.send(Parent, Frame{Kind: Up, Host: n.self, Seq: n.first + uint64(i), Ack: n.accepted, Data: n.log[i]})
}

// Owes reports whether the root waits for Acknowledge.
func (n *Node) Owes() bool { return n.owes && n.synced }

// Acknowledge tells the root what was accepted, if it does not know.
func (n *Node) Acknowledge() {
	if n.Owes() {
		n.owes = false
		n.send(Parent, Frame{Kind: Up, Host: n.self, Seq: n.first, Ack: n.accepted})
	}
}

// Attach attaches to a parent: Parent is a new link, which carries what Out
// returns.
func (n *Node) Attach() {
	n.n++
	n.up = true
	n.send(Parent, Frame{Kind: Greet, Protocol: Protocol, Host: n.self})
	n.tell(n.all())
	n.send(Parent, Frame{Kind: Attach, N: n.n})
}

// tell tells the parent of facts.
func (n *Node) tell(facts []Fact) {
	for len(facts) > 0 && n.up {
		k := min(len(facts), MaxFacts)
		n.send(Parent, Frame{Kind: Facts, Facts: facts[:k:k]})
		facts = facts[k:]
	}
}

// Move says that the host ends its link to the parent on purpose.
func (n *Node) Move() {
	if n.up {
		n.send(Parent, Frame{Kind: Moving})
	}
}

// Detached follows the end of the link to the parent.
func (n *Node) Detached() {
	n.up = false
	n.interrupt()
}

// interrupt stops accepting until the root has found the way again.
func (n *Node) interrupt() {
	n.synced = false
	n.spread(Frame{Kind: Break})
}

// FromParent takes a frame that came from the parent.
func (n *Node) FromParent(f Frame) error {
	switch f.Kind {
	case Beat:
	case Accept:
		if f.N != n.timeout && f.N != 0 {
			n.timeout = f.N
			n.spread(f)
		}
	case Break:
		n.interrupt()
	case All:
		n.spread(f)
		n.accept(f.Data)
	case Down, Resync, Reject:
		if f.Kind == Resync && !n.meant(&f) {
			return nil
		}
		if f.Host != n.self {
			n.forward(f)
			return nil
		}
		return n.ours(f)
	default:
		return fmt.Errorf("the parent sent a frame of kind %d", f.Kind)
	}
	return nil
}

// meant reports whether a Resync means the way over this attachment. One that was
// under way to an earlier attachment may have left records behind it there.
func (n *Node) meant(f *Frame) bool {
	if len(f.Path) == 0 || f.Path[0] != (Hop{n.self, n.n}) {
		return false
	}
	f.Path = f.Path[1:]
	return true
}

// ours takes a frame from the root to this host.
func (n *Node) ours(f Frame) error {
	if f.Ack > n.first+uint64(len(n.log)) || f.Kind == Resync && f.Seq > n.accepted {
		return fmt.Errorf("the root has %d records of %d, and %d of its own arrived of %d", f.Ack, n.first+uint64(len(n.log)), f.Seq, n.accepted)
	}
	n.acknowledged(f.Ack)
	switch f.Kind {
	case Resync:
		n.resync(f)
	case Reject:
		n.rejected, n.reason = true, f.Text
	default:
		n.accept(f.Data)
	}
	return nil
}

// accept takes one of the root's records.
func (n *Node) accept(data []byte) {
	if !n.synced || len(data) == 0 {
		return
	}
	n.owes = true
	if n.repeated > 0 {
		n.repeated--
		return
	}
	n.accepted++
	n.got = append(n.got, data)
}

func (n *Node) acknowledged(count uint64) {
	if count > n.first {
		n.log = n.log[count-n.first:]
		n.first = count
	}
}

// resync has records flow again, in both directions.
func (n *Node) resync(f Frame) {
	n.synced, n.owes = true, true
	n.repeated = n.accepted - f.Seq
	for i := range n.log {
		n.sendUp(i)
	}
	n.Acknowledge()
}

// FromChild takes a frame that came from a child over a link; where is the child's
// address. After an error the link must be closed, and Ended told.
func (n *Node) FromChild(l Link, f Frame, where string) error {
	switch f.Kind {
	case Beat:
	case Greet:
		return n.greet(l, f)
	case Attach:
		facts, err := n.attach(l, f, where)
		n.tell(facts)
		return err
	case Facts:
		n.tell(n.hear(f.Facts))
	case Moving:
		n.moves(l)
	case Up:
		if n.up {
			n.send(Parent, f)
		}
	default:
		return fmt.Errorf("a child sent a frame of kind %d", f.Kind)
	}
	return nil
}

// Ended follows the end of a link to a child. closed says that the other end has
// closed it: the child moves or is dead; why says how it ended.
func (n *Node) Ended(l Link, closed bool, why string) { n.tell(n.finish(l, closed, why)) }

// Timeout is the failure timeout, which the parent has told.
func (n *Node) Timeout() Instant { return Instant(n.timeout) }
