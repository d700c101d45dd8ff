// Allreduce is a rank program that times Barrier and the Allreduce of float64
// sums, with buffers from the arena, which peers reach without a copy, and from
// the Go heap.
//
// Every rank touches its buffers before anything is timed. Every outcome is
// verified in the same run, on every rank, outside the timed part. A rank that
// finds a wrong value fails, and the job with it.
//
// Everything runs on one goroutine a rank and takes no locks.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/golaunch/golaunch/apps/internal/bench"
	"github.com/golaunch/golaunch/apps/internal/bench/machine"
	"github.com/golaunch/golaunch/apps/internal/program"
	"github.com/golaunch/golaunch/runtime/world"
)

// float64s is how many bytes an element has.
const float64s = 8

var spec = bench.Spec{
	Name: "allreduce",
	Help: `allreduce times Barrier and the sum of float64s by Allreduce, and verifies them.
A time is that of one operation: the median of the batches.

Usage:
  golaunch -n N allreduce [flags]

Examples:
  golaunch -n 2 --bind-to core ./bin/allreduce
  golaunch -n 16 ./bin/allreduce --sizes 8 --buffers heap
  golaunch -n 2 ./bin/allreduce --ops allreduce_f64 --sizes 1M,64M --json
`,
	Ops:     []string{"barrier", "allreduce_f64"},
	Sizes:   []int{8, 1 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20},
	Buffers: []string{bench.Arena, bench.Heap},
	Unit:    float64s,
}

var allreduce = program.Program[bench.Options]{Name: spec.Name, Parse: spec.Parse, Run: run}

func main() { os.Exit(allreduce.Main()) }

// run is the program of one rank. Rank 0 writes the results to out.
func run(ctx context.Context, comm *world.Comm, o bench.Options, out io.Writer) error {
	s := &suite{ctx: ctx, comm: comm, opt: o, cores: machine.Cores()}
	s.printer = bench.NewPrinter(out, o.JSON, bench.Heading(s.path(), comm.Size(), s.cores, o.Batches))
	if o.Wants("barrier") {
		if err := s.barrier(); err != nil {
			return fmt.Errorf("barrier: %w", err)
		}
	}
	if o.Wants("allreduce_f64") {
		for _, kind := range o.Buffers {
			if err := s.allreduces(kind); err != nil {
				return err
			}
		}
	}
	return nil
}
