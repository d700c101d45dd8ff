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
// Invariant, as long as every host sends round s only when round s-1 is over for it:
// received <= round of every source <= sent+1 <= received+2.
type State struct {
	sources  []source
	members  []remote
	received uint64 // the last round that all sources have told
}

// A source is a host from which this one hears, for itself and for others.
type source struct {
	members int    // for how many it speaks
	round   uint64 // the last one that it has told
	entered int    // of its members, how many have entered the round behind that
}

// A remote is a member, of interest only if on another host.
type remote struct {
	source int    // from whom its parts come; -1: it is on this host
	round  uint64 // the last one it has entered
	// of the round behind that:
	signature    uint32
	total, bytes int
}

// NewState returns the state of a host that hears from sources, as Route has them.
// hosts is the host of each member.
func NewState(host int, hosts []int, sources []Source) *State {
	count := 1 // hosts
	for _, from := range sources {
		count += from.Hosts
	}
	s := &State{sources: make([]source, len(sources)), members: make([]remote, len(hosts))}
	for m, h := range hosts {
		s.members[m].source = -1
		for i, from := range sources {
			if (h-from.Host+count)%count < from.Hosts && h != host {
				s.members[m].source = i
				s.sources[i].members++
			}
		}
	}
	return s
}

// Received is the last round that every member of the other hosts has entered.
func (s *State) Received() uint64 { return s.received }

// Told is the last round that a source has told for all its members.
func (s *State) Told(source int) uint64 { return s.sources[source].round }

// Round is the last round that a member of another host has entered.
func (s *State) Round(member int) uint64 { return s.members[member].round }

// Accept takes a message from a source. sent is the last round this host has begun
// to send. After an error, which is the sender's fault, the group must be broken:
// part of the message may have been stored.
func (s *State) Accept(from int, msg []byte, sent uint64, into Sink) error {
	round, rest, err := roundOf(msg)
	if err != nil {
		return err
	}
	if told := s.sources[from].round; round != told+1 || round > sent+1 {
		return malformed("round %d, but it has told %d, and this host has sent %d", round, told, sent)
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
	case m.source != from:
		return malformed("it speaks for member %d, which is not its to speak for", p.member)
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
		s.count(from)
	}
	return nil
}

// count notes that one more member of a source has entered the round behind those
// that it has told.
func (s *State) count(from int) {
	f := &s.sources[from]
	if f.entered++; f.entered < f.members {
		return
	}
	f.round, f.entered = f.round+1, 0
	s.received = f.round
	for _, other := range s.sources {
		s.received = min(s.received, other.round)
	}
}

func (s *State) String() string {
	told := make([]uint64, len(s.sources))
	for i, f := range s.sources {
		told[i] = f.round
	}
	return fmt.Sprintf("received %d, of sources %d", s.received, told)
}
