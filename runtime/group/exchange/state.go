package exchange

import "fmt"

// A Sink is where arriving parts go: the host's copy of the slots.
type Sink interface {
	// Store stores bytes at offset of the member's payload of a round, which has total
	// bytes.
	Store(member int, round uint64, total, offset int, bytes []byte)
	// Enter says that the member's payload of the round is complete: length bytes.
	Enter(member int, round uint64, signature uint32, length int)
}

// A State is what one host knows of the members on the others.
//
// Invariant, as long as this host sends round s only when round s-1 is over:
// received <= round of every remote member <= sent+1 <= received+2.
type State struct {
	host     int
	members  []remote
	remotes  int    // how many members are on other hosts
	received uint64 // the last round that all of them have entered
	entered  int    // how many have entered the round behind that
	ahead    int    // how many the one behind that
}

// A remote is a member, of interest only if on another host.
type remote struct {
	host  int
	round uint64 // the last one it has entered
	// of the round behind that:
	signature    uint32
	total, bytes int
}

// NewState returns the state of one host. hosts is the host of each member.
func NewState(host int, hosts []int) *State {
	s := &State{host: host, members: make([]remote, len(hosts))}
	for m, h := range hosts {
		s.members[m].host = h
		if h != host {
			s.remotes++
		}
	}
	return s
}

// Received is the last round that every member of the other hosts has entered.
func (s *State) Received() uint64 { return s.received }

// Round is the last round that a member of another host has entered.
func (s *State) Round(member int) uint64 { return s.members[member].round }

// Accept takes a message from another host. sent is the last round this host has
// begun to send. After an error, which is the sender's fault, the group must be
// broken: part of the message may have been stored.
func (s *State) Accept(from int, msg []byte, sent uint64, into Sink) error {
	round, rest, err := roundOf(msg)
	if err != nil {
		return err
	}
	if round == 0 || round > sent+1 {
		return malformed("round %d, but this host has sent %d", round, sent)
	}
	for len(rest) > 0 {
		var p part
		if p, rest, err = nextPart(rest); err != nil {
			return err
		}
		if err := s.take(from, round, p, into); err != nil {
			return err
		}
	}
	return nil
}

func (s *State) take(from int, round uint64, p part, into Sink) error {
	if p.member >= len(s.members) {
		return malformed("member %d of %d", p.member, len(s.members))
	}
	m := &s.members[p.member]
	switch {
	case m.host != from || from == s.host:
		return malformed("host %d speaks for member %d of host %d", from, p.member, m.host)
	case round != m.round+1:
		return malformed("round %d of member %d, which has entered %d", round, p.member, m.round)
	case p.offset != m.bytes:
		return malformed("offset %d in the payload of member %d, want %d", p.offset, p.member, m.bytes)
	case p.offset > 0 && (p.total != m.total || p.signature != m.signature):
		return malformed("member %d changed its mind within a payload", p.member)
	}
	if len(p.bytes) > 0 {
		into.Store(p.member, round, p.total, p.offset, p.bytes)
	}
	m.total, m.signature, m.bytes = p.total, p.signature, p.offset+len(p.bytes)
	if m.bytes == m.total {
		m.round, m.bytes = round, 0
		into.Enter(p.member, round, p.signature, p.total)
		s.count(round)
	}
	return nil
}

// count notes that one more member has entered a round.
func (s *State) count(round uint64) {
	if round == s.received+2 {
		s.ahead++
		return
	}
	if s.entered++; s.entered == s.remotes {
		s.received++
		s.entered, s.ahead = s.ahead, 0
	}
}

func (s *State) String() string {
	return fmt.Sprintf("host %d has received %d, and %d of %d members of the next round", s.host, s.received, s.entered, s.remotes)
}
