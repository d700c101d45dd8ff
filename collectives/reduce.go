package collectives

import (
	"context"

	"github.com/golaunch/golaunch/collectives/reduce"
	"github.com/golaunch/golaunch/collectives/schedule"
	"github.com/golaunch/golaunch/runtime/world"
)

// Reduce combines the ranks' in element by element and gives the root the result
// in out (MPI 5.0 section 6.9.1). On other ranks out is ignored and may be nil.
// Errors are those of Allreduce, and wrong arguments.
func Reduce[T Number](ctx context.Context, comm *world.Comm, root int, in, out []T, op Op) error {
	c := call{
		what: callReduce, kind: reduce.KindOf[T](), op: op, root: root,
		bytes: len(in) * sizeOf[T](), width: sizeOf[T](),
	}
	e, err := enter(ctx, comm, &c)
	if err != nil {
		return err
	}
	return e.leave(&c, e.reduce(ctx, &c, asBytes(in), asBytes(out)))
}

func (e *engine) reduce(ctx context.Context, c *call, in, out []byte) error {
	if err := e.checkReduce(c, in, out); err != nil {
		return err
	}
	if e.me != c.root {
		out = nil
	}
	if c.small() {
		return e.reduceSmall(ctx, c, in, out)
	}
	if err := e.open(ctx, c, in, out); err != nil {
		return err
	}
	if e.all(offersIn) && e.offers[c.root].hasOut {
		return e.reduceDirect(ctx, c)
	}
	return e.stream(ctx, c, schedule.ForReduce(e.size, c.bytes, e.hosts), in, out)
}

func (e *engine) checkReduce(c *call, in, out []byte) error {
	if err := e.checkRoot(c.root); err != nil {
		return err
	}
	if e.me != c.root {
		return reduce.Valid(c.kind, c.op)
	}
	return c.checkReduction(in, out)
}

func (e *engine) reduceSmall(ctx context.Context, c *call, in, out []byte) error {
	if err := e.round(ctx, c, c.signature(), in); err != nil {
		return err
	}
	if e.me == c.root {
		e.combine(c, in, out)
	}
	return nil
}
