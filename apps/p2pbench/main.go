// P2pbench is a rank program that times messages between rank 0 and rank 1:
// pingpong, half of a round trip. With --bare it also times a ping-pong of bare
// system calls over a loopback connection between the same two processes, in the
// same run.
//
// Each rank sends what it has just received, from the same buffer. What rank 0
// sent first comes back last, so its buffer tells of all trips; it is verified in
// the same run, outside the timed part.
//
// Everything runs on one goroutine a rank. The other ranks wait in a barrier.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/golaunch/golaunch/apps/internal/bench"
	"github.com/golaunch/golaunch/apps/internal/bench/machine"
	"github.com/golaunch/golaunch/apps/internal/program"
	"github.com/golaunch/golaunch/runtime/world"
)

// word is how many bytes an element has: 64-bit integers.
const word = 8

// options are the benchmark's.
type options struct {
	bench.Options
	bare bool
}

var spec = bench.Spec{
	Name: "p2pbench",
	Help: `p2pbench times messages between rank 0 and rank 1, and verifies them. A time is
half of a round trip: the median of the batches.

Usage:
  golaunch -n 2 p2pbench [flags]

Examples:
  golaunch -n 2 --bind-to core ./bin/p2pbench
  golaunch -n 2 --bind-to core --virtual-hosts 2 ./bin/p2pbench --bare
  golaunch -n 2 ./bin/p2pbench --sizes 8,64K --buffers arena,heap --json
`,
	Ops:     []string{"pingpong"},
	Sizes:   []int{8, 1 << 10, 64 << 10, 1 << 20, 16 << 20},
	Buffers: []string{bench.Heap},
	Unit:    word,
}

// parse reads the command line.
func parse(args []string, help io.Writer) (o options, err error) {
	s := spec
	s.Flags = func(flags *pflag.FlagSet) {
		flags.BoolVar(&o.bare, "bare", false, "also time bare system calls over a loopback connection")
	}
	o.Options, err = s.Parse(args, help)
	return o, err
}

var p2pbench = program.Program[options]{Name: spec.Name, Parse: parse, Run: run}

func main() { os.Exit(p2pbench.Main()) }

// run is the program of one rank. Rank 0 writes the results to out.
func run(ctx context.Context, comm *world.Comm, o options, out io.Writer) error {
	if comm.Size() < 2 {
		return program.Usagef("needs at least 2 ranks, got %d: run golaunch -n 2 p2pbench", comm.Size())
	}
	s := &suite{ctx: ctx, comm: comm, opt: o, cores: machine.Cores(), path: comm.Path(1 - min(comm.Rank(), 1))}
	s.printer = bench.NewPrinter(out, o.JSON, bench.Heading(s.path, comm.Size(), s.cores, o.Batches))
	if err := s.pingpongs(); err != nil {
		return err
	}
	if o.bare {
		if err := s.bare(); err != nil {
			return fmt.Errorf("bare: %w", err)
		}
	}
	return nil
}
