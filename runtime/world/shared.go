package world

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/group"
)

// shared is what the members of a new group have beside it: memory that the first
// member on each host, its leader, has allocated for all members there, and the
// link to other hosts.
type shared struct {
	process *process
	ranks   []int  // the members, as ranks of the job
	me      int    // this rank's index
	owner   int    // index of this host's leader
	own     []byte // the leader's allocation, nil elsewhere
	mem     []byte // this member's mapping
	link    *link  // nil when all members are on this host
}

// group makes this member's view of the group that lives in the memory.
func (s *shared) group(what string) (*group.Group, error) {
	return s.process.newGroup(what, s.mem, s.me, s.link, s.ranks)
}

// free gives the memory up after every member of the group that lives in it has
// let go. If some member may not have, the memory is never used again.
func (s *shared) free(ctx context.Context, g *group.Group) error {
	s.link.close() // behind the last round nothing comes that matters
	if err := g.Retire(ctx, s.owner); err != nil {
		return err
	}
	if s.own == nil {
		return nil
	}
	return arena.Free(s.process.arena, s.own)
}

// share is a round of c in which some members of c agree on the memory and the
// ports of a group of their own: the leader of each host offers memory to its
// host's members, and a port to the other leaders. Members with other groups may
// do so in the same round. members are indices in c, this rank's among them.
func (c *Comm) share(ctx context.Context, signature uint32, members []int) (*shared, error) {
	s := c.newShared(members)
	var mine offer
	if s.owner == s.me {
		mine = s.offer()
	}
	c.group.Publish(signature, mine.encode(c.group.Room()))
	err := c.group.WaitAll(ctx)
	if err == nil {
		err = s.accept(ctx, c, members)
	}
	if err != nil {
		s.link.close()
		return nil, err
	}
	return s, nil
}

func (c *Comm) newShared(members []int) *shared {
	s := &shared{process: c.process, me: slices.Index(members, c.Rank())}
	for _, m := range members {
		s.ranks = append(s.ranks, c.group.Rank(m))
	}
	s.owner = slices.IndexFunc(s.ranks, c.process.local)
	s.link = newLink(c.process, s.ranks)
	return s
}

// offer is what this rank has to give as its host's leader.
func (s *shared) offer() offer {
	o := s.allocate(group.Size(len(s.ranks)))
	if s.link != nil {
		s.link.port = s.process.router.Open(s.link.deliver)
		o.port = s.link.port.Number()
	}
	return o
}

// accept takes what the leaders offer. When one of them refuses, all members get
// its reason, and what the others have allocated is given back: nobody has mapped
// it.
func (s *shared) accept(ctx context.Context, c *Comm, members []int) error {
	var mine offer
	for i, m := range members {
		if !s.isLeader(i) {
			continue
		}
		o, err := decodeOffer(c.group.Payload(m))
		if err != nil {
			return fmt.Errorf("rank %d: %w", s.ranks[i], err)
		}
		if o.refuse != "" {
			return s.refused(i, o.refuse)
		}
		if s.link != nil {
			s.link.ports[i] = o.port
		}
		if i == s.owner {
			mine = o
		}
	}
	if s.own != nil {
		s.mem = s.own
		return nil
	}
	mem, err := s.process.segments.at(ctx, s.ranks[s.owner], mine.at, mine.bytes)
	s.mem = mem
	return err
}

// isLeader reports whether a member is the first one of its host.
func (s *shared) isLeader(member int) bool {
	if s.link == nil {
		return member == 0
	}
	return slices.Index(s.link.hosts, s.link.hosts[member]) == member
}

func (s *shared) refused(member int, why string) error {
	err := &refusedError{rank: s.ranks[member], why: why}
	if s.own != nil {
		if failed := arena.Free(s.process.arena, s.own); failed != nil {
			return failed
		}
	}
	return err
}

// A refusedError reports that a member could not offer memory. Every member that
// wanted it gets the error, so the communicator stays whole.
type refusedError struct {
	rank int
	why  string
}

func (e *refusedError) Error() string { return fmt.Sprintf("rank %d: %s", e.rank, e.why) }

func (s *shared) allocate(bytes int) offer {
	mem, err := arena.Alloc[byte](s.process.arena, bytes)
	if err != nil {
		return offer{refuse: err.Error()}
	}
	at, ok := s.process.arena.Locate(mem)
	if !ok {
		return offer{refuse: errors.Join(errNotArena, arena.Free(s.process.arena, mem)).Error()}
	}
	s.own = mem
	return offer{at: at, bytes: int64(bytes)}
}
