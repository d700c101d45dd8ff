package world

import (
	"context"
	"fmt"
	"io"

	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/group"
	"github.com/golaunch/golaunch/runtime/relax"
	"github.com/golaunch/golaunch/transport"
)

// Inside is what packages window and collectives need of a communicator beside
// what programs do. Programs have no use for it.
type Inside struct {
	comm *Comm

	// Collectives is what package collectives keeps for this communicator. It is
	// touched only between Enter and Exit. If it is an io.Closer, Free closes it,
	// when no member uses it any more.
	Collectives any

	numbers uint64 // that NextNumber gave out
}

func (in *Inside) close() error {
	if c, ok := in.Collectives.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Of returns the inside of a communicator.
func Of(c *Comm) *Inside { return &c.inside }

// Group is the communicator's shared memory on this host.
func (in *Inside) Group() *group.Group { return in.comm.group }

// Rank is this rank's number in the world, for errors.
func (in *Inside) Rank() int { return in.comm.process.rank }

// WorldRank translates a rank of the communicator.
func (in *Inside) WorldRank(rank int) int { return in.comm.group.Rank(rank) }

// Enter begins a collective operation. It is an error when another one is under
// way on the communicator, when it is broken, or when the rank has left. Exit
// ends what Enter began.
func (in *Inside) Enter(op Operation) error { return in.comm.enter(op) }

// Exit ends the collective operation that Enter began.
func (in *Inside) Exit() { in.comm.exit() }

// Fail breaks the communicator on every rank because op failed here, and
// returns err with this rank, the operation and the communicator named. An error
// that already is a *BrokenError of this communicator breaks nothing again.
func (in *Inside) Fail(op Operation, err error) error { return in.comm.fail(op, err) }

// Locate says where memory of this rank's arena is, for a peer's At; false if it
// is other memory.
func (in *Inside) Locate(mem []byte) (arena.Extent, bool) {
	return in.comm.process.arena.Locate(mem)
}

// At maps n bytes at an extent of the arena of a member on this host. The
// mapping lasts until this rank leaves, also when the member leaves before.
func (in *Inside) At(member int, e arena.Extent, n int) ([]byte, error) {
	return in.comm.process.segments.at(in.comm.process.ctx, in.comm.group.Rank(member), e, int64(n))
}

// Register makes memory of this rank's arena accessible to peers that have its
// Remote, until the region is closed.
func (in *Inside) Register(mem []byte) (*Region, error) {
	return in.comm.process.register(mem)
}

// Map maps registered memory of a member on this host into this process, as loads,
// stores and atomics see it. The mapping lasts until this rank leaves.
func (in *Inside) Map(member int, r transport.Remote) ([]byte, error) {
	return in.comm.process.mapRemote(in.comm.group.Rank(member), r)
}

// HasLeft reports whether Leave, or Free, has been called.
func (in *Inside) HasLeft() bool { return in.comm.left.Load() }

// NewGroup makes a further group of the same members, for a window. It is a
// collective operation on the communicator, inside Enter and Exit. The caller
// agrees in a round of the communicator that everybody has it before it waits on
// it: who failed here cannot break it.
func (in *Inside) NewGroup(ctx context.Context, what string) (*Group, error) {
	c := in.comm
	members := make([]int, c.Size())
	for m := range members {
		members[m] = m
	}
	s, err := c.share(ctx, sigGroup, members)
	if err != nil {
		return nil, err
	}
	g, err := s.group(what)
	if err != nil {
		s.link.close()
		return nil, err
	}
	return &Group{Group: g, memory: s}, nil
}

// A Group is a group together with the memory it lives in.
type Group struct {
	*group.Group
	memory *shared
}

// Free gives the group up. Every member calls it after its last round.
func (g *Group) Free(ctx context.Context) error { return g.memory.free(ctx, g.Group) }

// enter, exit and fail frame a collective operation. What is under way is over for
// others a moment later: nobody waits for that, so exit does not either.
func (c *Comm) enter(op Operation) error {
	if !c.busy.CompareAndSwap(0, uint64(op)) {
		return c.overlapping(op)
	}
	if c.hasLeft() || c.group.IsBroken() {
		return c.unusable(op)
	}
	return nil
}

func (c *Comm) overlapping(op Operation) error {
	return fmt.Errorf("rank %d: %v on communicator %q: a collective operation is under way on it (%v): use Dup to run two side by side",
		c.process.rank, op, c.name, Operation(c.busy.Load()))
}

// unusable ends what enter has begun.
func (c *Comm) unusable(op Operation) error {
	c.exit()
	err := error(errLeft)
	if !c.hasLeft() { // else the group's memory is gone
		err = c.group.Broken()
		c.resign()
	}
	return fmt.Errorf("rank %d: %v on communicator %q: %w", c.process.rank, op, c.name, err)
}

// hasLeft reports whether this communicator was freed or the rank has left.
func (c *Comm) hasLeft() bool { return c.left.Load() || c.process.left.Load() }

func (c *Comm) exit() { relax.Store(&c.busy, 0) }

func (c *Comm) fail(op Operation, err error) error {
	if _, refused := err.(*refusedError); !refused {
		c.doubt()
		c.group.Break(op.String(), err)
	}
	return fmt.Errorf("rank %d: %v on communicator %q: %w", c.process.rank, op, c.name, err)
}
