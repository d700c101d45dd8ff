package collectives

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/golaunch/golaunch/collectives/reduce"
	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
)

// engineOf is the communicator's engine, before it was used for more than a Barrier.
func engineOf(t testing.TB, ctx context.Context, comm *world.Comm) *engine {
	t.Helper()
	if err := Barrier(ctx, comm); err != nil {
		t.Fatal(err)
	}
	return world.Of(comm).Collectives.(*engine)
}

// Hundreds of blocks of a line or two for each rank, by ranks that are late at random
// places: nothing is overwritten before it was read, nor read before it was written,
// within an operation and from one to the next.
func TestStagesAreUsedAgainInTime(t *testing.T) {
	const n, times = 4099, 30
	for ranks := 2; ranks <= 5; ranks++ {
		worldtest.Run(t, ranks, func(ctx context.Context, comm *world.Comm) {
			e := engineOf(t, ctx, comm)
			e.part = 128
			r := rand.New(rand.NewPCG(uint64(comm.Rank()), 1))
			in := make([]uint64, n)
			for k := range times {
				out := in
				if k%2 == 1 {
					out = make([]uint64, n)
				}
				for i := range in {
					in[i] = uint64((i + k) * (comm.Rank() + 1))
				}
				if err := late(ctx, e, in, out, r); err != nil {
					t.Error(err)
					return
				}
				factor := uint64(ranks * (ranks + 1) / 2)
				for i, v := range out {
					if v != uint64(i+k)*factor {
						t.Errorf("rank %d of %d, time %d: element %d is %d, want %d", comm.Rank(), ranks, k, i, v, uint64(i+k)*factor)
						return
					}
				}
			}
		})
	}
}

// late is an Allreduce of a rank that lets others run between its turns.
func late(ctx context.Context, e *engine, in, out []uint64, r *rand.Rand) error {
	return begun(ctx, e, len(in)*8, func(c *call) error {
		if err := e.open(ctx, c, asBytes(in), asBytes(out)); err != nil {
			return err
		}
		x, err := e.exchange(ctx, c, asBytes(in), asBytes(out))
		for k := 0; err == nil && k < x.turns(); k++ {
			for range r.IntN(3) {
				runtime.Gosched()
			}
			err = x.turn(ctx, k)
		}
		return err
	})
}

// begun frames an Allreduce of uint64s.
func begun(ctx context.Context, e *engine, bytes int, body func(c *call) error) error {
	c := call{what: callAllreduce, kind: reduce.Uint64, op: Sum, bytes: bytes, width: 8}
	if err := e.inside.Enter(c.what.operation()); err != nil {
		return err
	}
	return e.leave(&c, body(&c))
}

// A rank falls silent after any of its turns: the others get an error, and those who
// were through before have the right sum.
func TestFailureBetweenTurns(t *testing.T) {
	const n, part = 5000, 4096
	for name, end := range map[string]func(*world.Comm) error{
		"death":     func(comm *world.Comm) error { return errors.Join(comm.Abort(3), errors.New("it is dead")) },
		"giving up": func(*world.Comm) error { return errors.New("tired of waiting") },
	} {
		for last := range 6 {
			t.Run(fmt.Sprintf("%s after %d turns", name, last), func(t *testing.T) {
				worldtest.Run(t, 3, func(ctx context.Context, comm *world.Comm) {
					e := engineOf(t, ctx, comm)
					e.part = part
					in, out := make([]uint64, n), make([]uint64, n)
					if comm.Rank() != 1 {
						failedOrBroken(t, comm, Allreduce(ctx, comm, in, out, Sum))
						broken(t, ctx, comm)
						return
					}
					err := begun(ctx, e, 8*n, func(c *call) error {
						err := e.open(ctx, c, asBytes(in), asBytes(out))
						if err != nil {
							return err
						}
						x, err := e.exchange(ctx, c, asBytes(in), asBytes(out))
						for k := 0; err == nil && k < min(last, x.blocks); k++ {
							err = x.turn(ctx, k)
						}
						return errors.Join(err, end(comm))
					})
					if err == nil {
						t.Error("it did not fail")
					}
				})
			})
		}
	}
}

// A rank that gives up in the closing round has returned, and may use its buffers
// again, when another one that is late reads them: that one must not succeed.
func TestReadingTooLateFails(t *testing.T) {
	const n = 5000
	gone := make(chan struct{})
	worldtest.Run(t, 2, func(ctx context.Context, comm *world.Comm) {
		near, err := arena.Alloc[uint64](comm.Arena(), n)
		if err != nil {
			t.Error(err)
			return
		}
		e, buf := engineOf(t, ctx, comm), asBytes(near)
		err = begun(ctx, e, 8*n, func(c *call) error {
			if err := e.open(ctx, c, buf, buf); err != nil {
				return err
			}
			if comm.Rank() == 0 {
				<-gone
				return e.allreduceDirect(ctx, c)
			}
			e.group.Publish(c.closing(), nil)
			return errors.New("tired of waiting")
		})
		if comm.Rank() == 1 {
			close(gone)
			return
		}
		failedOrBroken(t, comm, err)
	})
}

// Parts are whole lines, and stages stay within bounds for any number of ranks.
func TestStageSizes(t *testing.T) {
	for _, size := range []int{37, 64, 1000} {
		if part := partRoom(size); part != 0 {
			t.Errorf("%d ranks: parts of %d bytes, stages of %d each", size, part, stageSize(size, part))
		}
	}
	for _, size := range []int{2, 3, 8, 16, 36} {
		part := partRoom(size)
		if part%64 != 0 || part < shortestPart || part > longestPart || part > shortestPart && size*stageSize(size, part) > stagesBytes {
			t.Errorf("%d ranks: parts of %d bytes, stages of %d each", size, part, stageSize(size, part))
		}
	}
}

// Stages are given back with their communicator.
func TestFreeGivesStagesBack(t *testing.T) {
	worldtest.Run(t, 2, func(ctx context.Context, comm *world.Comm) {
		sub, err := comm.Dup(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		e := engineOf(t, ctx, sub)
		if err := Allreduce(ctx, sub, make([]byte, 5000), make([]byte, 5000), Max); err != nil {
			t.Error(err)
		}
		if e.stage == nil {
			t.Error("a long Allreduce made no stages")
		}
		if err := sub.Free(ctx); err != nil || e.stage != nil {
			t.Errorf("Free has not given up the stage: %v", err)
		}
	})
}
