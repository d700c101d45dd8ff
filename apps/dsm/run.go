package main

import (
	"context"
	"fmt"
	"io"

	"github.com/golaunch/golaunch/apps/internal/bench/figures"
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

// measure runs a kernel in every mode, as often as is asked for. The modes take turns, so
// that other programs disturb all of them alike.
func measure(ctx context.Context, comm *world.Comm, opt options, k kernel) ([]result, error) {
	results, times := make([]result, len(opt.modes)), make([][]float64, len(opt.modes))
	for range opt.repeat {
		for i, mode := range opt.modes {
			j := &job{ctx: ctx, comm: comm, mode: mode, size: k.size, steps: k.steps, verify: opt.verify}
			if err := k.run(j); err != nil {
				return nil, fmt.Errorf("%s, mode %s: %w", k.name, mode, err)
			}
			times[i] = append(times[i], j.seconds)
			results[i] = result{k.name, mode, k.size, k.steps, comm.Size(), farthest(comm), 0, j.traffic}
		}
	}
	for i := range results {
		results[i].Seconds = figures.Median(times[i])
	}
	return results, nil
}

// farthest is the path to the rank that is reached least directly: "tcp" if there are several
// hosts.
func farthest(comm *world.Comm) string {
	path := comm.Path(comm.Rank())
	for rank := range comm.Size() {
		if p := comm.Path(rank); p != "self" && path != "tcp" {
			path = p
		}
	}
	return path
}
