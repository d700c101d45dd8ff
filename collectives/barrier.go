package collectives

import (
	"context"

	"github.com/golaunch/golaunch/runtime/world"
)

// Barrier returns when every rank of the communicator has called it (MPI 5.0
// section 6.3). What a rank stored in a window's memory before is seen by all
// after. Errors are those of Allreduce.
func Barrier(ctx context.Context, comm *world.Comm) error {
	e, err := enter(ctx, comm, &barrier)
	if err != nil {
		return err
	}
	return e.leave(&barrier, e.round(ctx, &barrier, barrierSignature, nil))
}

// Every Barrier is the same call. Nobody changes it.
var barrier = call{what: callBarrier}

const barrierSignature = sigOurs | uint32(callBarrier)<<whatAt
