// Regbench is a rank program that times what it costs to have memory registered with
// the transport: anew every time, in the arena, and through the cache of foreign
// memory; and what registering per call costs an Allreduce.
//
// It measures the transport to other hosts if there are any, else shared memory's,
// which takes memory of the arena only. Every rank touches its buffers before anything
// is timed. That nothing is registered where nothing should be is checked, from the
// figures of the arena and of the cache, and so are the sums.
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

// word is how many bytes an element has: float64s.
const word = 8

// The operations. Those of one rank are timed at rank 0, while the others wait.
const (
	register         = "register"          // Register and Close, every time
	allocate         = "arena_alloc"       // Alloc, Remote and Free of the arena
	remote           = "arena_remote"      // Remote of a buffer that is kept
	firstTouch       = "foreign_first"     // Acquire of memory that is not registered, and Release
	cacheHit         = "foreign_hit"       // Acquire of memory that is, and Release
	perCall          = "allreduce_percall" // both buffers registered before each Allreduce
	registeredBefore = "allreduce_pre"     // buffers of the arena
)

var spec = bench.Spec{
	Name: "regbench",
	Help: `regbench times the registration of memory with the transport, and Allreduce with
buffers that are registered for each call and beforehand. A time is that of one
operation: the median of the batches.

Usage:
  golaunch -n N regbench [flags]

Examples:
  golaunch -n 2 --virtual-hosts 2 --bind-to core ./bin/regbench
  golaunch -n 2 ./bin/regbench --ops register,arena_alloc --sizes 64K,1M --json
`,
	Ops:     []string{register, allocate, remote, firstTouch, cacheHit, perCall, registeredBefore},
	Sizes:   []int{8, 4 << 10, 64 << 10, 1 << 20, 16 << 20},
	Buffers: []string{bench.Arena},
	Unit:    word,
}

var regbench = program.Program[bench.Options]{Name: spec.Name, Parse: parse, Run: run}

// parse reads the command line. Where the buffers lie follows from the operation.
func parse(args []string, help io.Writer) (bench.Options, error) {
	o, err := spec.Parse(args, help)
	if err == nil && (len(o.Buffers) != 1 || o.Buffers[0] != bench.Arena) {
		err = fmt.Errorf("--buffers: each operation has buffers of its own kind")
	}
	return o, err
}

func main() { os.Exit(regbench.Main()) }

// run is the program of one rank. Rank 0 writes the results to out.
func run(ctx context.Context, comm *world.Comm, o bench.Options, out io.Writer) error {
	s := &suite{ctx: ctx, comm: comm, opt: o, cores: machine.Cores(), registrar: world.Of(comm).Registrar(), transport: farthest(comm)}
	shown := &table{out: out, heading: bench.Heading(s.transport, comm.Size(), s.cores, o.Batches), sizes: o.Sizes}
	s.printer = shown
	if o.JSON {
		s.printer = bench.NewPrinter(out, true, "")
	}
	for _, m := range []struct {
		op  string
		run func(size int) error
	}{
		{register, s.registers}, {allocate, s.allocates}, {remote, s.remotes},
		{firstTouch, s.firstTouches}, {cacheHit, s.cacheHits},
		{perCall, s.allreducesPerCall}, {registeredBefore, s.allreducesPre},
	} {
		if !o.Wants(m.op) {
			continue
		}
		for _, size := range o.Sizes {
			if err := m.run(size); err != nil {
				return fmt.Errorf("%s of %d bytes: %w", m.op, size, err)
			}
		}
	}
	return shown.close()
}
