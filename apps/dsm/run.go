package main

import (
	"context"
	"fmt"
	"io"

	"github.com/golaunch/golaunch/apps/internal/bench"
	"github.com/golaunch/golaunch/runtime/world"
)

// run is the program of one rank. Rank 0 writes the results to out.
func run(ctx context.Context, comm *world.Comm, opt options, out io.Writer) error {
	if comm.Rank() != 0 {
		out = io.Discard
	}
	print := newPrinter(out, opt, comm)
	for _, name := range opt.kernels {
		k, err := choose(name, opt, comm.Size())
		if err != nil {
			return err
		}
		results, err := measure(ctx, comm, opt, k)
		if err != nil {
			return err
		}
		for _, r := range results {
			if err := print(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// measure runs a kernel in every mode, as often as is asked for.
func measure(ctx context.Context, comm *world.Comm, opt options, k kernel) ([]result, error) {
	results := make([]result, len(opt.modes))
	medians, err := bench.TakeTurns(opt.modes, opt.repeat, func(i int, mode string) (float64, error) {
		j := &job{ctx: ctx, comm: comm, mode: mode, size: k.size, steps: k.steps, verify: opt.verify}
		if err := k.run(j); err != nil {
			return 0, fmt.Errorf("%s, mode %s: %w", k.name, mode, err)
		}
		results[i] = result{k.name, mode, k.size, k.steps, comm.Size(), bench.Farthest(comm), 0, j.traffic}
		return j.seconds, nil
	})
	for i, seconds := range medians {
		results[i].Seconds = seconds
	}
	return results, err
}
