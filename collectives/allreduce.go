package collectives

import (
	"context"

	"github.com/golaunch/golaunch/collectives/reduce"
	"github.com/golaunch/golaunch/collectives/schedule"
	"github.com/golaunch/golaunch/runtime/world"
)

// Allreduce combines the ranks' in element by element and gives every rank the
// result in out (MPI 5.0 section 6.9.6). In and out have the same length, and are
// different memory or the same. All ranks get the same bits.
//
// It returns a *MismatchError if ranks disagree, a *world.RankFailedError, a
// *world.BrokenError, or the cause of ctx's end, each with rank, operation and
// communicator.
func Allreduce[T Number](ctx context.Context, comm *world.Comm, in, out []T, op Op) error {
	// Field by field: a literal would be put together elsewhere by bytes and copied
	// by words, a stall of 8 ns.
	var c call
	c.what, c.kind, c.op = callAllreduce, reduce.KindOf[T](), op
	c.bytes, c.width = len(in)*sizeOf[T](), sizeOf[T]()
	return allreduce(ctx, comm, &c, asBytes(in), asBytes(out))
}

func allreduce(ctx context.Context, comm *world.Comm, c *call, in, out []byte) error {
	e, err := enter(ctx, comm, c)
	if err != nil {
		return err
	}
	if err = c.checkReduction(in, out); err == nil {
		if c.small() {
			err = e.allreduceSmall(ctx, c, in, out)
		} else {
			err = e.allreduceLarge(ctx, c, in, out)
		}
	}
	return e.leave(c, err)
}

// checkReduction checks what a rank that gets the result passes.
func (c *call) checkReduction(in, out []byte) error {
	if err := reduce.Valid(c.kind, c.op); err != nil {
		return err
	}
	if err := c.wants(out, 1); err != nil {
		return err
	}
	return apart(in, out, 0)
}

// allreduceSmall: everybody publishes, everybody combines, by rank. The inputs
// are copied first, so out may be in.
func (e *engine) allreduceSmall(ctx context.Context, c *call, in, out []byte) error {
	if err := e.round(ctx, c, c.signature(), in); err != nil {
		return err
	}
	e.combine(c, in, out)
	return nil
}

// combine sets out to what everybody published, combined by rank. This rank's own
// part is taken from in where it can: reading back the slot that the peers are
// just reading costs as much as another round. It cannot where in is out and
// partial results have been stored there.
func (e *engine) combine(c *call, in, out []byte) {
	if e.size == 1 {
		copy(out, in)
		return
	}
	reduce.Into(c.kind, c.op, out, e.operand(0, in), e.operand(1, in))
	for member := 2; member < e.size; member++ {
		reduce.Into(c.kind, c.op, out, out, e.group.Payload(member)[:len(out)])
	}
}

func (e *engine) operand(member int, in []byte) []byte {
	if member == e.me {
		return in
	}
	return e.group.Payload(member)[:len(in)]
}

func (e *engine) allreduceLarge(ctx context.Context, c *call, in, out []byte) error {
	if err := e.open(ctx, c, in, out); err != nil {
		return err
	}
	if e.all(offersIn | offersOut) {
		return e.allreduceDirect(ctx, c)
	}
	if e.hosts == "" && e.size > 1 && e.part > 0 {
		return e.allreduceStaged(ctx, c, in, out)
	}
	return e.stream(ctx, c, schedule.ForAllreduce(e.size, c.bytes, e.hosts), in, out)
}
