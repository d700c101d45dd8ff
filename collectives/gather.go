package collectives

import (
	"context"

	"github.com/golaunch/golaunch/collectives/schedule"
	"github.com/golaunch/golaunch/runtime/copying"
	"github.com/golaunch/golaunch/runtime/world"
)

// Gather puts every rank's in into the root's out, one after the other by rank
// (MPI 5.0 section 6.5). All ranks pass as many elements; the root's out has as
// many for each rank, and on other ranks it is ignored and may be nil. T has no
// pointers. Errors are those of Allreduce, and wrong arguments.
func Gather[T any](ctx context.Context, comm *world.Comm, root int, in, out []T) error {
	c := callOf[T](callGather, root, len(in))
	e, err := enter(ctx, comm, &c)
	if err != nil {
		return err
	}
	return e.leave(&c, e.gather(ctx, &c, asBytes(in), asBytes(out)))
}

func (e *engine) gather(ctx context.Context, c *call, in, out []byte) error {
	if err := e.checkGather(c, in, out); err != nil {
		return err
	}
	if e.me != c.root {
		out = nil
	}
	if c.small() {
		return e.gatherSmall(ctx, c, in, out)
	}
	if err := e.open(ctx, c, in, out); err != nil {
		return err
	}
	if e.offers[c.root].hasOut {
		return e.gatherDirect(ctx, c, in)
	}
	return e.stream(ctx, c, schedule.ForGather(e.size, c.bytes), in, out)
}

func (e *engine) checkGather(c *call, in, out []byte) error {
	if err := e.checkRoot(c.root); err != nil || e.me != c.root {
		return err
	}
	return e.checkBlocks(c, in, out)
}

// checkBlocks checks what a rank that gets everybody's block passes.
func (e *engine) checkBlocks(c *call, in, out []byte) error {
	if err := c.wants(out, e.size); err != nil {
		return err
	}
	return apart(in, out, e.me*c.bytes)
}

func (e *engine) gatherSmall(ctx context.Context, c *call, in, out []byte) error {
	if err := e.round(ctx, c, c.signature(), in); err != nil {
		return err
	}
	if e.me == c.root {
		e.unpack(c, in, out)
	}
	return nil
}

// unpack copies what everybody published into blocks; this rank's own one from in.
func (e *engine) unpack(c *call, in, out []byte) {
	for member := range e.size {
		from := in
		if member != e.me {
			from = e.group.Payload(member)
		}
		copy(out[member*c.bytes:][:c.bytes], from)
	}
}

// gatherDirect: everybody stores into its block at the root.
func (e *engine) gatherDirect(ctx context.Context, c *call, in []byte) error {
	out, err := e.outOf(c.root, c.bytes*e.size)
	if err != nil {
		return err
	}
	copying.Copy(out[e.me*c.bytes:][:c.bytes], in)
	return e.close(ctx, c)
}
