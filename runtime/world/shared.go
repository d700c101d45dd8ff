package world

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/group"
)

// shared is memory that one member of a group allocated for all of them.
type shared struct {
	process *process
	owner   int    // index of the member that allocated it
	own     []byte // the owner's allocation, nil elsewhere
	mem     []byte // this member's mapping
}

// free gives the memory up after every member of the group that lives in it has
// let go. If some member may not have, the memory is never used again.
func (s *shared) free(ctx context.Context, g *group.Group) error {
	if err := g.Retire(ctx, s.owner); err != nil {
		return err
	}
	if s.own == nil {
		return nil
	}
	return arena.Free(s.process.arena, s.own)
}

// An offer is what the owner publishes: where the memory is, or why there is
// none.
type offer struct {
	at     arena.Extent
	bytes  int64
	refuse string
}

// The layout of an offer: length of the refusal, key, offset, length, refusal.
const offerHead = 32

func (o offer) encode(dst []byte) []byte {
	refusal := o.refuse[:min(len(o.refuse), len(dst)-offerHead)]
	binary.LittleEndian.PutUint64(dst, uint64(len(refusal)))
	binary.LittleEndian.PutUint64(dst[8:], o.at.Key)
	binary.LittleEndian.PutUint64(dst[16:], uint64(o.at.Offset))
	binary.LittleEndian.PutUint64(dst[24:], uint64(o.bytes))
	return dst[:offerHead+copy(dst[offerHead:], refusal)]
}

func decodeOffer(src []byte) (offer, error) {
	if len(src) < offerHead {
		return offer{}, fmt.Errorf("offer of %d bytes, want at least %d", len(src), offerHead)
	}
	n := binary.LittleEndian.Uint64(src)
	if n > uint64(len(src)-offerHead) {
		return offer{}, fmt.Errorf("offer of %d bytes with a refusal of %d", len(src), n)
	}
	return offer{
		at: arena.Extent{
			Key:    binary.LittleEndian.Uint64(src[8:]),
			Offset: int64(binary.LittleEndian.Uint64(src[16:])),
		},
		bytes:  int64(binary.LittleEndian.Uint64(src[24:])),
		refuse: string(src[offerHead : offerHead+int(n)]),
	}, nil
}

// share is a round of c in which member owner offers bytes of zeroed memory to
// those members that want it. Several owners may offer in one round: each member
// says whose offer it takes.
func (c *Comm) share(ctx context.Context, signature uint32, owner, bytes int) (*shared, error) {
	s := &shared{process: c.process, owner: owner}
	var mine offer
	if owner == c.Rank() {
		mine = s.allocate(bytes)
	}
	c.group.Publish(signature, mine.encode(c.group.Room()))
	if err := c.group.WaitAll(ctx); err != nil {
		return nil, err
	}
	o, err := decodeOffer(c.group.Payload(owner))
	switch {
	case err != nil:
		return nil, fmt.Errorf("rank %d: %w", c.group.Rank(owner), err)
	case o.refuse != "":
		return nil, &refusedError{rank: c.group.Rank(owner), why: o.refuse}
	case s.own != nil:
		s.mem = s.own
		return s, nil
	}
	s.mem, err = c.process.segments.at(c.group.Rank(owner), o.at, o.bytes)
	return s, err
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
