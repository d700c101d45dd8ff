// Rmabench is a rank program that times one-sided operations: Put and Get with
// the Flush that completes them, FetchAdd, Lock with Put and Unlock, and Fence.
//
// Rank 0 is the origin and rank 1 the target of everything but Fence, in which
// all ranks take part; the others wait in a barrier. Every operation's outcome is
// verified in the same run, outside the timed part. A rank that finds a wrong
// value fails, and the job with it.
//
// Everything runs on one goroutine a rank and takes no locks but the windows'.
package main

import (
	"context"
	"io"
	"os"

	"github.com/golaunch/golaunch/apps/internal/bench"
	"github.com/golaunch/golaunch/apps/internal/program"
	"github.com/golaunch/golaunch/runtime/world"
)

const (
	origin = 0
	target = 1
)

// What is measured only when asked for: passive takes half a minute, and no peer has what
// coherent measures.
const (
	passiveOp  = "passive"
	coherentOp = "coherent"
)

// word is how many bytes an element has: all sides' elements are 64-bit integers.
const word = 8

var spec = bench.Spec{
	Name: "rmabench",
	Help: `rmabench times one-sided operations from rank 0 to rank 1, and verifies them.
A time is that of one operation: the median of the batches. Put and Get count
with the Flush that completes them.

Usage:
  golaunch -n 2 rmabench [flags]

Examples:
  golaunch -n 2 --bind-to core ./bin/rmabench
  golaunch -n 2 ./bin/rmabench --ops put,get --sizes 8,64K --json
  golaunch -n 2 ./bin/rmabench --buffers arena,heap
  golaunch -n 2 --virtual-hosts 2 --bind-to core ./bin/rmabench --ops passive

  golaunch -n 2 --virtual-hosts 2 ./bin/rmabench --ops coherent

The op passive compares targets that sleep with targets that compute; coherent measures
a coherent window, hits and misses.
`,
	Ops:     []string{"put", "get", "fetch_add", "lock_put_unlock", "fence"},
	Sizes:   []int{8, 1 << 10, 64 << 10, 1 << 20, 16 << 20},
	More:    []string{passiveOp, coherentOp},
	Buffers: []string{bench.Arena},
	Unit:    word,
}

var rmabench = program.Program[bench.Options]{Name: spec.Name, Parse: spec.Parse, Run: run}

func main() { os.Exit(rmabench.Main()) }

// run is the program of one rank. Rank 0 writes the results to out.
func run(ctx context.Context, comm *world.Comm, o bench.Options, out io.Writer) error {
	if comm.Size() < 2 {
		return program.Usagef("needs at least 2 ranks, got %d: run golaunch -n 2 rmabench", comm.Size())
	}
	s, err := newSuite(ctx, comm, o)
	if err != nil {
		return err
	}
	s.printer = bench.NewPrinter(out, o.JSON, bench.Heading(s.path(), comm.Size(), s.cores, o.Batches))
	s.out = out
	if err := s.measure(); err != nil {
		return err
	}
	return s.free()
}
