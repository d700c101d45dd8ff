package tree

import "fmt"

// An Instant is a point in time in nanoseconds; where zero lies does not matter.
type Instant int64

// A Root is the root's end of the tree.
//
// Every host has a session from its first attachment until it is lost or closed;
// ended remembers those. A host whose way to the root is interrupted is in apart,
// with the instant at which it is lost.
type Root struct {
	hub
	patience Instant
	now      Instant
	full     bool // no new host is taken
	sessions map[ID]*session
	ended    map[ID]string
	apart    map[ID]Instant
	backlog  backlog
	owing    []ID
	events   []Event
}

// An Event is what the root tells of a host.
type Event struct {
	Kind EventKind
	Host ID
	Data []byte // of Came: the host's next record. It may be changed later.
	Text string // of Joined: the host's address; of Lost: why
	Dead bool   // of Lost: its process is dead
}

// An EventKind says what happened.
type EventKind uint8

// The kinds of events.
const (
	Joined EventKind = iota + 1
	Came
	Lost
)

// NewRoot returns a root nobody is attached to. timeout is the failure timeout that
// all hosts are told, patience how long a host may be without a way to the root.
func NewRoot(timeout, patience Instant) *Root {
	r := &Root{hub: newHub(RootID), patience: patience, sessions: map[ID]*session{}, ended: map[ID]string{}, apart: map[ID]Instant{}}
	r.timeout = uint64(timeout)
	return r
}

// Out returns what is to be sent since the last call, and Events what happened. The
// next call of any method may overwrite it.
func (r *Root) Out() []Out { return take(&r.out) }

// Events is described at Out.
func (r *Root) Events() []Event { return take(&r.events) }

// Full says that no host is taken any more that has not attached before.
func (r *Root) Full() { r.full = true }

// Send sends data to a host, behind everything that was sent before to it or to
// all. It keeps data until the host has it.
func (r *Root) Send(host ID, data []byte) {
	s := r.sessions[host]
	if s == nil {
		return
	}
	for _, d := range pieces(data) {
		s.own = append(s.own, record{r.backlog.end(), d})
		r.forward(Frame{Kind: Down, Host: host, Ack: r.told(s), Data: d})
	}
}

// told is what a frame to a host acknowledges.
func (r *Root) told(s *session) uint64 {
	s.owes = false
	return s.accepted
}

// SendAll sends data to every host that has a session, behind everything that was
// sent to it before. It keeps data until they have it.
func (r *Root) SendAll(data []byte) {
	for _, d := range pieces(data) {
		r.backlog.add(d, r.least)
		r.spread(Frame{Kind: All, Data: d})
	}
}

// least is the first record to all that some host may lack.
func (r *Root) least() uint64 {
	least := r.backlog.end()
	for _, s := range r.sessions {
		least = min(least, s.all)
	}
	return least
}

// Unacknowledged is how many of the records sent to a host it has not acknowledged.
func (r *Root) Unacknowledged(host ID) int {
	if s := r.sessions[host]; s != nil {
		return int(s.pending(r.backlog.end()))
	}
	return 0
}

// Owes reports whether some host waits for Acknowledge.
func (r *Root) Owes() bool { return len(r.owing) > 0 }

// Acknowledge tells the hosts what was accepted, where they do not know.
func (r *Root) Acknowledge() {
	for _, host := range r.owing {
		if s := r.sessions[host]; s != nil && s.owes {
			r.forward(Frame{Kind: Down, Host: host, Ack: r.told(s)})
		}
	}
	r.owing = r.owing[:0]
}

// FromChild takes a frame that came over a link; where is the address of the other
// end. After an error the link must be closed, and Ended told.
func (r *Root) FromChild(l Link, f Frame, where string) error {
	switch f.Kind {
	case Beat:
	case Greet:
		return r.greet(l, f)
	case Attach:
		facts, err := r.attach(l, f, where)
		r.consider(facts)
		return err
	case Facts:
		r.consider(r.hear(f.Facts))
	case Moving:
		r.moves(l)
	case Up:
		return r.came(f)
	default:
		return fmt.Errorf("it sent a frame of kind %d", f.Kind)
	}
	return nil
}

// Ended follows the end of a link. closed says that the other end has closed it.
func (r *Root) Ended(l Link, closed bool, why string) { r.consider(r.finish(l, closed, why)) }

// came takes a record of a host, or what it acknowledges.
func (r *Root) came(f Frame) error {
	s := r.sessions[f.Host]
	if s == nil {
		return nil
	}
	if !s.acknowledge(f.Ack, r.backlog.end()) {
		return fmt.Errorf("host %x acknowledges %d records, which it was not sent", f.Host, f.Ack)
	}
	if len(f.Data) == 0 || f.Seq > s.accepted { // one before it was lost on its way
		return nil
	}
	if !s.owes {
		s.owes = true
		r.owing = append(r.owing, f.Host)
	}
	if f.Seq == s.accepted {
		s.accepted++
		r.events = append(r.events, Event{Kind: Came, Host: f.Host, Data: f.Data})
	}
	return nil
}

// Close ends the session of a host, which is told that the job is over for it.
func (r *Root) Close(host ID) {
	if s := r.sessions[host]; s != nil {
		r.forward(Frame{Kind: Reject, Host: host, Ack: r.told(s)})
		r.end(host, "")
	}
}

func (r *Root) end(host ID, why string) {
	delete(r.sessions, host)
	delete(r.apart, host)
	r.ended[host] = why
}
