package collectives

import (
	"context"
	"fmt"
	"testing"

	"github.com/golaunch/golaunch/collectives/reduce"
	"github.com/golaunch/golaunch/collectives/schedule"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
)

// BenchmarkInProcess times operations of two ranks in one process. Between
// processes they cost the same, but the scheduler has a say here.
func BenchmarkInProcess(b *testing.B) {
	for _, name := range []string{"barrier", "small allreduce", "allreduce on the heap", "allreduce in the arena"} {
		b.Run(name, func(b *testing.B) {
			worldtest.Run(b, 2, func(ctx context.Context, comm *world.Comm) {
				call := steady(b, comm)[name]
				for range b.N {
					if err := call(ctx, comm); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// BenchmarkAlgorithms compares the schedules of each operation through pipes, for
// the limits in schedule/select.go. Sizes are what the selection is given.
func BenchmarkAlgorithms(b *testing.B) {
	for _, n := range []int{2, 4, 8} {
		for _, bytes := range []int{1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20} {
			for _, a := range schedule.Algorithms()[1:] {
				b.Run(fmt.Sprintf("ranks=%d/bytes=%d/by=%v", n, bytes, a), func(b *testing.B) {
					worldtest.Run(b, n, func(ctx context.Context, comm *world.Comm) { repeat(b, ctx, comm, a, bytes) })
				})
			}
		}
	}
}

// repeat carries out an algorithm b.N times.
func repeat(b *testing.B, ctx context.Context, comm *world.Comm, a schedule.Algorithm, bytes int) {
	c := call{what: callAllreduce, kind: reduce.Float64, bytes: bytes, width: 8}
	switch a {
	case schedule.ReduceBinomial, schedule.ReduceScatterGather, schedule.AllreduceRecursiveDoubling, schedule.AllreduceReduceScatterAllgather:
		c.op = Sum
	}
	in, out := make([]byte, bytes), make([]byte, bytes*comm.Size())
	e, err := enter(ctx, comm, &c)
	if err != nil {
		b.Error(err)
		return
	}
	for i := -1; err == nil && i < b.N; i++ { // the first one makes the pipes
		if i == 0 && comm.Rank() == 0 {
			b.ResetTimer()
		}
		err = e.stream(ctx, &c, a, in, out)
	}
	if err = e.leave(&c, err); err != nil {
		b.Error(err)
	}
}
