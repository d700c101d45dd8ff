package collectives

import (
	"context"
	"errors"
	"fmt"

	"github.com/golaunch/golaunch/collectives/schedule"
	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/group"
	"github.com/golaunch/golaunch/runtime/world"
)

// An engine is what this package keeps of a communicator. It belongs to the
// operation under way.
type engine struct {
	inside   *world.Inside
	group    *group.Group
	me, size int
	hosts    schedule.Hosts // "" if all ranks are on one

	offers  []offer  // of the operation under way, by rank
	views   []view   // by rank: mappings of their buffers
	inputs  [][]byte // of the kernels
	outputs [][]byte
	scratch []byte // Temp of schedules

	arena *arena.Arena
	stage *stage // nil before the first use
	part  int    // bytes of a part in it, 0 if there is to be none; tests lower it before the first use

	links    *links   // to members of other hosts; nil before the first stream
	outlets  []outlet // by rank; nil before the first use
	inlets   []inlet
	programs []*program // most recently used first
	run      run
}

// newEngine is kept out of enter, which is on everybody's way.
//
//go:noinline
func newEngine(comm *world.Comm, inside *world.Inside) *engine {
	g := inside.Group()
	n := g.Size()
	return &engine{
		inside: inside, group: g, me: g.Me(), size: n, hosts: hostsOf(inside.Hosts()),
		offers: make([]offer, n), views: make([]view, n),
		outlets: make([]outlet, n), inlets: make([]inlet, n),
		arena: comm.Arena(), part: partRoom(n),
	}
}

// hostsOf is where the members are, "" if all are on one host.
func hostsOf(hosts []int) schedule.Hosts {
	for _, h := range hosts {
		if h != hosts[0] {
			return schedule.HostsOf(hosts)
		}
	}
	return ""
}

// Close gives up what the engine has. Every member has stopped using it.
func (e *engine) Close() error {
	err := errors.Join(e.links.close(), e.stage.free(e.arena))
	e.links, e.stage = nil, nil
	return err
}

// enter begins a call on a communicator. Each enter that succeeds is ended by leave.
func enter(ctx context.Context, comm *world.Comm, c *call) (*engine, error) {
	inside := world.Of(comm)
	if err := inside.Enter(c.what.operation()); err != nil {
		return nil, err
	}
	e, ok := inside.Collectives.(*engine)
	if !ok {
		e = newEngine(comm, inside)
		inside.Collectives = e
	}
	if ctx.Err() != nil {
		return nil, e.leave(c, context.Cause(ctx))
	}
	if c.bad != nil {
		return nil, e.leave(c, c.bad)
	}
	return e, nil
}

// leave ends a call. If it failed, the communicator breaks.
func (e *engine) leave(c *call, err error) error {
	if err != nil {
		return e.fail(c, err)
	}
	e.inside.Exit()
	return nil
}

func (e *engine) fail(c *call, err error) error {
	defer e.inside.Exit()
	return e.inside.Fail(c.what.operation(), e.withCause(err))
}

// withCause adds to a rank's failure that the communicator is broken, if it is:
// a rank may well have left because of that.
func (e *engine) withCause(err error) error {
	var told *world.BrokenError
	var failed *world.RankFailedError
	if errors.As(err, &told) || !errors.As(err, &failed) {
		return err
	}
	if broken := e.group.Broken(); broken != nil {
		return fmt.Errorf("%w; %w", broken, err)
	}
	return err
}
