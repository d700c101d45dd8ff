package collectives

import (
	"context"

	"github.com/golaunch/golaunch/collectives/schedule"
	"github.com/golaunch/golaunch/runtime/copying"
	"github.com/golaunch/golaunch/runtime/world"
)

// Allgather puts every rank's in into every rank's out, one after the other by
// rank (MPI 5.0 section 6.7). All ranks pass as many elements, and out has as
// many for each rank. T has no pointers. Errors are those of Allreduce, and wrong
// arguments.
func Allgather[T any](ctx context.Context, comm *world.Comm, in, out []T) error {
	c := callOf[T](callAllgather, 0, len(in))
	e, err := enter(ctx, comm, &c)
	if err != nil {
		return err
	}
	return e.leave(&c, e.allgather(ctx, &c, asBytes(in), asBytes(out)))
}

func (e *engine) allgather(ctx context.Context, c *call, in, out []byte) error {
	if err := e.checkBlocks(c, in, out); err != nil {
		return err
	}
	if c.small() {
		if err := e.round(ctx, c, c.signature(), in); err != nil {
			return err
		}
		e.unpack(c, in, out)
		return nil
	}
	if err := e.open(ctx, c, in, out); err != nil {
		return err
	}
	if e.all(offersIn) {
		return e.allgatherDirect(ctx, c, in, out)
	}
	return e.stream(ctx, c, schedule.ForAllgather(e.size, c.bytes), in, out)
}

// allgatherDirect: everybody copies everybody's input, starting with its own so
// that the ranks do not all read the same.
func (e *engine) allgatherDirect(ctx context.Context, c *call, in, out []byte) error {
	for i := range e.size {
		member := (e.me + i) % e.size
		from := in
		if member != e.me {
			var err error
			if from, err = e.inOf(member, c.bytes); err != nil {
				return err
			}
		}
		copying.Copy(out[member*c.bytes:][:c.bytes], from)
	}
	return e.close(ctx, c)
}
