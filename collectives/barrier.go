package collectives

import (
	"context"

	"github.com/golaunch/golaunch/runtime/world"
)

// Barrier returns when every rank of the communicator has called it (MPI 5.0
// section 6.3). What a rank stored in a window's memory before is seen by all
// after. Errors are those of Allreduce.
func Barrier(ctx context.Context, comm *world.Comm) error {
	var c call
	c.what = callBarrier
	e, err := enter(ctx, comm, &c)
	if err != nil {
		return err
	}
	return e.leave(&c, e.round(ctx, &c, c.signature(), nil))
}
