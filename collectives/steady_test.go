package collectives

import (
	"context"
	"testing"

	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
)

// steady are operations that allocate nothing once everything is warm.
func steady(tb testing.TB, comm *world.Comm) map[string]body {
	small, result := []float64{1}, make([]float64, 1)
	large, sum := make([]float64, 3000), make([]float64, 3000)
	near, err := arena.Alloc[float64](comm.Arena(), 3000)
	if err != nil {
		tb.Fatal(err)
	}
	blocks := make([]float64, comm.Size())
	return map[string]body{
		"barrier": barriers,
		"small allreduce": func(ctx context.Context, comm *world.Comm) error {
			return Allreduce(ctx, comm, small, result, Sum)
		},
		"allreduce on the heap": func(ctx context.Context, comm *world.Comm) error {
			return Allreduce(ctx, comm, large, sum, Sum)
		},
		"allreduce in the arena": func(ctx context.Context, comm *world.Comm) error {
			return Allreduce(ctx, comm, near, near, Max)
		},
		"bcast":     func(ctx context.Context, comm *world.Comm) error { return Bcast(ctx, comm, 0, large) },
		"reduce":    func(ctx context.Context, comm *world.Comm) error { return Reduce(ctx, comm, 0, large, sum, Sum) },
		"allgather": func(ctx context.Context, comm *world.Comm) error { return Allgather(ctx, comm, small, blocks) },
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	const runs = 200
	for _, name := range []string{"barrier", "small allreduce", "allreduce on the heap", "allreduce in the arena", "bcast", "reduce", "allgather"} {
		for _, n := range []int{1, 2, 3} {
			worldtest.Run(t, n, func(ctx context.Context, comm *world.Comm) {
				call := steady(t, comm)[name]
				once := func() {
					if err := call(ctx, comm); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
				for range 5 {
					once()
				}
				if comm.Rank() != 0 {
					for range runs + 1 { // AllocsPerRun warms up once
						once()
					}
					return
				}
				if allocs := testing.AllocsPerRun(runs, once); allocs != 0 {
					t.Errorf("%s, %d ranks: %v allocations", name, n, allocs)
				}
			})
		}
	}
}
