package world

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/group"
	"github.com/golaunch/golaunch/runtime/world/messages"
)

// A Comm is a communicator: an ordered set of ranks that communicate with each
// other and with nobody else (MPI-5.0 section 7.2).
type Comm struct {
	process  *process
	name     string
	group    *group.Group
	pipes    *pipes
	memory   *shared // the group's memory; nil for the world, whose lies in the job's
	box      *messages.Box
	context  uint64 // names it in messages
	children uint32 // communicators made from it
	inside   Inside
	busy     atomic.Uint64 // the Operation under way; 0: none
	left     atomic.Bool
	forsake  sync.Once // when its operations are over for this rank, without agreement
}

func (p *process) newComm(name string, area []byte, me int, l *link, ranks []int, memory *shared) (*Comm, error) {
	g, err := p.newGroup(fmt.Sprintf("communicator %q", name), area, me, l, ranks)
	if err != nil {
		return nil, err
	}
	c := &Comm{process: p, name: name, group: g, memory: memory}
	c.pipes = newPipes(c)
	c.inside.comm = c
	if memory == nil {
		c.openBox(worldContext)
	}
	return c, nil
}

// Rank is this rank's number in the communicator, from 0.
func (c *Comm) Rank() int { return c.group.Me() }

// Size is how many ranks the communicator has.
func (c *Comm) Size() int { return c.group.Size() }

// Host is the name of the host this rank runs on.
func (c *Comm) Host() string { return c.process.setup.host }

// Path is how this rank reaches another one of the communicator: "self", "shm"
// (they share memory), "tcp", or "verbs" (both have an RDMA device). Where this rank
// has such a device it waits until one on another host has joined.
func (c *Comm) Path(rank int) string { return c.inside.Path(rank) }

// Name is "world", or the parent's name with what Split or Dup added.
func (c *Comm) Name() string { return c.name }

// Arena is this rank's memory that peers can reach. Buffers from arena.Alloc
// travel without a copy.
func (c *Comm) Arena() *arena.Arena { return c.process.arena }

// Leave ends this rank's part in the job. It waits for nobody. Afterwards the
// process may exit without that being a failure; memory of the arena and of
// windows must not be touched any more, by any goroutine, and operations on
// other communicators and windows of the rank are errors of the program.
//
// Others that still wait for this rank get a *RankFailedError. Leave on a
// communicator made by Split or Dup is an error: use Free.
func (c *Comm) Leave() error {
	if c.memory != nil {
		return fmt.Errorf("rank %d: Leave on communicator %q: only the world is left; use Free", c.process.rank, c.name)
	}
	c.left.Store(true)
	if c.process.left.Swap(true) {
		return fmt.Errorf("rank %d: Leave: has left already", c.process.rank)
	}
	if err := errors.Join(c.process.report(), c.process.supervisor.Leave(), c.process.close()); err != nil {
		return fmt.Errorf("rank %d: Leave: %w", c.process.rank, err)
	}
	return nil
}

// Abort ends the whole job (MPI-5.0 section 9.7): golaunch stops every rank and
// exits with code, 1 to 255. It returns when the supervisor has been told; this
// process is stopped a moment later. Under a process manager that is its part, and
// its exit code may be another one (docs/bootstrap.md). In a world of one and among
// goroutines it marks this rank as failed.
func (c *Comm) Abort(code int) error {
	if code < 1 || code > 255 {
		return fmt.Errorf("rank %d: Abort with code %d: want 1 to 255", c.process.rank, code)
	}
	if c.process.left.Load() {
		return fmt.Errorf("rank %d: Abort: %w", c.process.rank, errLeft)
	}
	if err := c.process.supervisor.Abort(code, fmt.Sprintf("Abort(%d) by rank %d", code, c.process.rank)); err != nil {
		return fmt.Errorf("rank %d: Abort: %w", c.process.rank, err)
	}
	return nil
}

// Free gives up a communicator made by Split or Dup (MPI-5.0 section 7.4.3). It
// is collective: every member calls it, and no operation may follow.
func (c *Comm) Free(ctx context.Context) error {
	if c.memory == nil {
		return fmt.Errorf("rank %d: Free on the world communicator: use Leave", c.process.rank)
	}
	if err := c.enter(OpFree); err != nil {
		return err
	}
	defer c.exit()
	c.left.Store(true)
	if err := c.dissolve(ctx); err != nil {
		return c.fail(OpFree, err)
	}
	return nil
}

// dissolve first waits until every member is here: until then one may still read
// from this member's pipes.
func (c *Comm) dissolve(ctx context.Context) error {
	if err := c.attend(ctx, sigFree); err != nil {
		return err
	}
	c.box.Close(errLeft)
	return errors.Join(c.inside.close(), c.pipes.free(), c.memory.free(ctx, c.group))
}
