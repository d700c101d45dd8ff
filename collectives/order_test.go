package collectives

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"github.com/golaunch/golaunch/collectives/reduce"
	"github.com/golaunch/golaunch/collectives/schedule"
	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
)

// rough are numbers whose sum depends on the order.
func rough(seed uint64, n int) []float64 {
	r := rand.New(rand.NewPCG(seed, 9))
	list := make([]float64, n)
	for i := range list {
		list[i] = r.NormFloat64() * float64(uint64(1)<<r.IntN(60))
	}
	return list
}

// sumByRank is ((x0 + x1) + x2) + ...
func sumByRank(ranks, n int) []float64 {
	sum := rough(0, n)
	for rank := 1; rank < ranks; rank++ {
		reduce.Slices(Sum, sum, sum, rough(uint64(rank), n))
	}
	return sum
}

// Small, direct, through stages and through pipes by parts: the same order, so the
// same bits, in place and apart.
func TestSumsAreCombinedByRank(t *testing.T) {
	for _, n := range []int{300, 20000} { // small; 20 KB a rank's part with eight ranks
		for ranks := 1; ranks <= 8; ranks++ {
			want := asBytes(sumByRank(ranks, n))
			worldtest.Run(t, ranks, func(ctx context.Context, comm *world.Comm) {
				near, err := arena.Alloc[float64](comm.Arena(), 2*n)
				if err != nil {
					t.Error(err)
					return
				}
				engineOf(t, ctx, comm).part = 4096 // several blocks
				same := make([]float64, n)
				pipes := schedule.AllreduceReduceScatterAllgather
				for _, way := range []struct {
					name    string
					in, out []float64
					forced  *schedule.Algorithm
				}{
					{"direct", near[n:], near[:n], nil},
					{"staged", near[n:], make([]float64, n), nil},
					{"staged, in place", same, same, nil},
					{"pipes", near[n:], make([]float64, n), &pipes},
					{"pipes, in place", same, same, &pipes},
				} {
					copy(way.in, rough(uint64(comm.Rank()), n))
					b := &buffers[float64]{trial: &trial{t: t, ctx: ctx, comm: comm}, in: way.in, out: way.out}
					if way.forced != nil {
						err = b.force(callAllreduce, *way.forced, 0, Sum)
					} else {
						err = b.call(callAllreduce, 0, Sum)
					}
					if err != nil {
						t.Error(err)
					}
					if !bytes.Equal(asBytes(way.out), want) {
						t.Errorf("%d elements, rank %d of %d, %s: not the sum by rank", n, comm.Rank(), ranks, way.name)
					}
				}
			})
		}
	}
}

// Recursive doubling has an order of its own, but all ranks have the same.
func TestRecursiveDoublingGivesAllTheSameBits(t *testing.T) {
	const n = 100
	for ranks := 2; ranks <= 9; ranks++ {
		worldtest.Anywhere(t, ranks, func(ctx context.Context, comm *world.Comm) {
			out, all := make([]float64, n), make([]float64, n*ranks)
			b := &buffers[float64]{trial: &trial{t: t, ctx: ctx, comm: comm}, in: rough(uint64(comm.Rank()), n), out: out}
			err := b.force(callAllreduce, schedule.AllreduceRecursiveDoubling, 0, Sum)
			if err == nil {
				err = Allgather(ctx, comm, out, all)
			}
			if err != nil {
				t.Error(err)
				return
			}
			for rank := range ranks {
				if !bytes.Equal(asBytes(all[rank*n:][:n]), asBytes(out)) {
					t.Errorf("ranks %d and %d of %d differ", rank, comm.Rank(), ranks)
				}
			}
		})
	}
}
