package spread

import "slices"

// A Push brings something to hosts that are known by number, 0 to n-1.
//
// The sender keeps the plan, and it alone makes a new one: whatever goes wrong
// anywhere, hosts that have not been reached are sent to anew by the sender, along a
// chain or tree of their own. What they have already they keep. The host with which
// it went wrong is sent to directly and alone, and has failed if that goes wrong
// too; so nobody is behind a host that was found wanting, and every host is given
// up or reached in the end:
//
//	unreached, behind others ──> unreached, alone ──> failed
//	            └──────────────────────┴────────────> reached
//
// Invariant: a host that is neither reached nor failed is in exactly one session.
// It is the newest one that the host was ever in: numbers of sessions grow.
//
// Goroutine safety: none; a Push belongs to one goroutine.
type Push struct {
	hosts    []host
	sessions map[int]*Session
	next     int // number of the next session
	open     int // hosts that are neither reached nor failed
}

type host struct {
	state   state
	session int    // the one it is in
	trouble string // what went wrong before it was sent to alone
	why     string // it failed
}

type state uint8

const (
	unreached state = iota
	reached
	failed
)

// A Session is one connection of the sender: to Hosts[0], who passes on to others.
type Session struct {
	Number  int
	Hosts   []int // at their positions in the plan
	Parents []int // positions; -1 for the first
}

// Orders are what the sender is to do. Sessions to close have no host left; the
// others in them are sent to by newer ones.
type Orders struct {
	Open  []*Session
	Close []int
}

// New returns a push to n hosts, and how it begins.
func New(n int) (*Push, Orders) {
	p := &Push{hosts: make([]host, n), sessions: map[int]*Session{}, open: n}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	var o Orders
	p.send(all, &o)
	return p, o
}

// Over reports whether every host is reached or failed.
func (p *Push) Over() bool { return p.open == 0 }

// IsReached reports whether a host has everything.
func (p *Push) IsReached(host int) bool { return p.hosts[host].state == reached }

// Failure is why a host failed; "" if it has not.
func (p *Push) Failure(host int) string { return p.hosts[host].why }

// Reached tells that a host has everything. It does not matter who says so.
func (p *Push) Reached(host int) Orders {
	var o Orders
	p.settle(host, reached, &o)
	return o
}

// Failed tells that a host has said that it cannot. Those behind it are sent to
// anew.
func (p *Push) Failed(session, host int, why string) Orders {
	var o Orders
	if s, position := p.find(session, host); s != nil {
		p.settleFailed(host, why, &o)
		p.send(p.behind(s, position), &o)
		p.tidy(s, &o)
	}
	return o
}

// Lost tells that a host could not be reached, broke off, perhaps after it was
// reached itself, or got something else than was sent.
func (p *Push) Lost(session, host int, why string) Orders {
	if s := p.sessions[session]; s != nil {
		return p.loseBelow(s, slices.Index(s.Hosts, host), why)
	}
	return Orders{}
}

// Ended tells that a session is over, for whatever reason.
func (p *Push) Ended(session int, why string) Orders {
	if s := p.sessions[session]; s != nil {
		return p.loseBelow(s, 0, why)
	}
	return Orders{}
}

func (p *Push) loseBelow(s *Session, position int, why string) Orders {
	var o Orders
	for _, first := range p.foremost(s, position) {
		p.lose(s, first, why, &o)
	}
	p.tidy(s, &o)
	return o
}

// Overdue tells that a session takes too long. The hosts for which others wait in
// it are sent to alone; the first keeps the session for itself.
func (p *Push) Overdue(session int) Orders {
	var o Orders
	if s := p.sessions[session]; s != nil {
		for _, position := range p.foremost(s, 0) {
			if position == 0 {
				p.send(p.behind(s, 0), &o)
			} else {
				p.lose(s, position, "too slow", &o)
			}
		}
		p.tidy(s, &o)
	}
	return o
}

// Unreached are the hosts of a session that are neither reached nor failed.
func (p *Push) Unreached(session int) []int {
	s := p.sessions[session]
	if s == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Hosts), func(h int) bool { return !p.in(s, h) })
}

// in reports whether a host waits for a session.
func (p *Push) in(s *Session, host int) bool {
	return p.hosts[host].state == unreached && p.hosts[host].session == s.Number
}

// find returns the session and the position in it of a host that waits for it.
func (p *Push) find(session, host int) (*Session, int) {
	s := p.sessions[session]
	if s == nil || host < 0 || host >= len(p.hosts) || !p.in(s, host) {
		return nil, 0
	}
	return s, slices.Index(s.Hosts, host)
}

// lose sends to a host alone, or gives it up if that is what failed, and sends to
// those behind it anew.
func (p *Push) lose(s *Session, position int, why string, o *Orders) {
	h := s.Hosts[position]
	behind := p.behind(s, position)
	if position == 0 {
		p.settleFailed(h, why, o)
	} else {
		p.hosts[h].trouble = why
		p.open1([]int{h}, []int{-1}, o)
	}
	p.send(behind, o)
}

// behind are the hosts below a position that wait for the session.
func (p *Push) behind(s *Session, position int) []int {
	var hosts []int
	members, _ := Subtree(s.Parents, position)
	for _, m := range members[1:] {
		if p.in(s, s.Hosts[m]) {
			hosts = append(hosts, s.Hosts[m])
		}
	}
	return hosts
}

// foremost are the positions of those that wait at or below a position, and
// between it and them nobody does. Below -1 there are none.
func (p *Push) foremost(s *Session, top int) []int {
	if top < 0 {
		return nil
	}
	members, plan := Subtree(s.Parents, top)
	waits := make([]bool, len(members)) // it or somebody before it
	var first []int
	for i, m := range members {
		before := i > 0 && waits[plan[i]]
		waits[i] = before || p.in(s, s.Hosts[m])
		if waits[i] && !before {
			first = append(first, m)
		}
	}
	return first
}

// send plans for hosts that nobody sends to any more.
func (p *Push) send(hosts []int, o *Orders) {
	parents := Shape(len(hosts))
	for _, head := range Heads(parents, -1) {
		members, plan := Subtree(parents, head)
		for i, m := range members {
			members[i] = hosts[m]
		}
		p.open1(members, plan, o)
	}
}

// open1 opens a session.
func (p *Push) open1(hosts, parents []int, o *Orders) {
	s := &Session{p.next, hosts, parents}
	p.next++
	p.sessions[s.Number] = s
	for _, h := range hosts {
		p.hosts[h].session = s.Number
	}
	o.Open = append(o.Open, s)
}

func (p *Push) settleFailed(host int, why string, o *Orders) {
	if trouble := p.hosts[host].trouble; trouble != "" {
		why += " (before, behind other hosts: " + trouble + ")"
	}
	p.hosts[host].why = why
	p.settle(host, failed, o)
}

// settle ends a host's wait, and its session's if it was the last.
func (p *Push) settle(host int, how state, o *Orders) {
	h := &p.hosts[host]
	if h.state != unreached {
		return
	}
	h.state = how
	p.open--
	if s := p.sessions[h.session]; s != nil {
		p.tidy(s, o)
	}
}

// tidy closes a session for which nobody waits.
func (p *Push) tidy(s *Session, o *Orders) {
	if p.sessions[s.Number] != nil && !slices.ContainsFunc(s.Hosts, func(h int) bool { return p.in(s, h) }) {
		delete(p.sessions, s.Number)
		o.Close = append(o.Close, s.Number)
	}
}
