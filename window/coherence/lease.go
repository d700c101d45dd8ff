package coherence

// Ticks is time on the clock of one host, in any unit.
type Ticks int64

// A PulseKind says what a Pulse is.
type PulseKind uint8

const (
	Tick    PulseKind = iota + 1 // time has passed
	Beat                         // a host to the root: I am there; sent when its clock showed At
	BeatAck                      // the root's answer, with the Beat's At
	Fenced                       // this host must not touch the window any more: give its Host a Fence
	Dead                         // Pulse.Host has fenced itself: give every other Host a HostDead
)

// A Pulse is a sign of life, or of its absence.
type Pulse struct {
	Kind PulseKind
	Host uint8
	At   Ticks
}

// Lease is a host's right to touch the window. It lasts for T from the sending of the
// latest Beat that the root has answered (not from the answer's arrival, which may be
// much later). See Gray and Cheriton 1989.
//
//	Invariant: not fenced => at the last Step, now < renewed + T
type Lease struct {
	host    uint8
	t       Ticks
	renewed Ticks
	fenced  bool
}

// NewLease is a lease that begins now.
func NewLease(host uint8, t, now Ticks) Lease { return Lease{host: host, t: t, renewed: now} }

// Step takes a Tick or a BeatAck at the time now of the host's clock and appends what
// follows to out: a Beat, or once that the host is fenced. Ticks should come every T/4
// or more often.
func (l *Lease) Step(now Ticks, p Pulse, out []Pulse) []Pulse {
	switch {
	case l.fenced:
	case now-l.renewed >= l.t:
		l.fenced = true
		return append(out, Pulse{Kind: Fenced, Host: l.host, At: now})
	case p.Kind == BeatAck:
		l.renewed = max(l.renewed, min(p.At, now))
	case p.Kind == Tick:
		return append(out, Pulse{Kind: Beat, Host: l.host, At: now})
	}
	return out
}

// Watch is the root's side: it declares a host dead after 2T without a Beat.
//
// That is safe as long as a host's Step comes less than T late, by the root's clock:
// the host's lease began before the root answered its last Beat, so by the root's clock
// it ends within T of that, if the clocks run equally fast. The second T is for clocks
// that do not, and for a host that was busy when its lease ended.
//
//	Invariant: dead(h) => the lease of h has ended
type Watch struct {
	t     Ticks
	heard []Ticks
	dead  hostSet
}

// NewWatch watches hosts, all of which were there at the time now of the root's clock.
func NewWatch(hosts int, t, now Ticks) Watch {
	w := Watch{t: t, heard: make([]Ticks, hosts)}
	for h := range w.heard {
		w.heard[h] = now
	}
	return w
}

// Step takes a Tick or a Beat at the time now of the root's clock and appends what
// follows to out: a BeatAck for the Beat's host, or who is dead. The dead are not
// answered, so that they stay dead.
func (w *Watch) Step(now Ticks, p Pulse, out []Pulse) []Pulse {
	switch {
	case p.Kind == Tick:
		return w.declare(now, out)
	case p.Kind != Beat || int(p.Host) >= len(w.heard) || w.dead.has(p.Host):
		return out
	}
	w.heard[p.Host] = now
	return append(out, Pulse{Kind: BeatAck, Host: p.Host, At: p.At})
}

func (w *Watch) declare(now Ticks, out []Pulse) []Pulse {
	for h := range uint8(len(w.heard)) {
		if !w.dead.has(h) && now-w.heard[h] >= 2*w.t {
			w.dead = w.dead.with(h)
			out = append(out, Pulse{Kind: Dead, Host: h, At: now})
		}
	}
	return out
}
