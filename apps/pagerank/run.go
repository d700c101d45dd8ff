package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/golaunch/golaunch/apps/internal/bench"
	"github.com/golaunch/golaunch/collectives"
	"github.com/golaunch/golaunch/runtime/world"
)

// run is the program of one rank. Rank 0 writes the results to out.
func run(ctx context.Context, comm *world.Comm, opt options, out io.Writer) error {
	if comm.Rank() != 0 {
		out = io.Discard
	}
	g, err := shareGraph(ctx, comm, opt.root)
	if err != nil {
		return err
	}
	results, ranks := make([]result, len(opt.modes)), []float64(nil)
	medians, err := bench.TakeTurns(opt.modes, opt.repeat, func(i int, mode string) (_ float64, err error) {
		if results[i], ranks, err = solve(ctx, comm, g, mode, opt); err != nil {
			return 0, fmt.Errorf("mode %s: %w", mode, err)
		}
		return results[i].Seconds, nil
	})
	if err != nil {
		return err
	}
	for i, seconds := range medians {
		results[i].Seconds = seconds
	}
	return print(out, opt, g, results, ranks)
}

// solve runs the computation once, and checks it at rank 0.
func solve(ctx context.Context, comm *world.Comm, g *graph, mode string, opt options) (r result, ranks []float64, err error) {
	s, err := newSolver(ctx, comm, g, mode)
	if err != nil {
		return r, nil, err
	}
	if err := s.solve(opt.iterations); err != nil {
		return r, nil, err
	}
	gets := []int64{s.gets}
	if err := collectives.Allreduce(ctx, comm, gets, gets, collectives.Sum); err != nil {
		return r, nil, err
	}
	if ranks, err = s.collect(); err != nil {
		return r, nil, err
	}
	if opt.verify && comm.Rank() == 0 {
		if err := compare(g, ranks, serial(g, comm.Size(), opt.iterations)); err != nil {
			return r, nil, err
		}
	}
	r = result{mode, g.packages(), len(g.importers), opt.iterations, comm.Size(), bench.Farthest(comm), s.duration.Seconds(), gets[0]}
	return r, ranks, s.free()
}

func compare(g *graph, got, want []float64) error {
	for i, w := range want {
		if math.Float64bits(w) != math.Float64bits(got[i]) {
			return fmt.Errorf("verify: package %s has rank %v, not the serial %v", g.names[i], got[i], w)
		}
	}
	return nil
}
