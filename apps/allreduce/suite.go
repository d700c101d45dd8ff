package main

import (
	"context"

	"github.com/golaunch/golaunch/apps/internal/bench"
	"github.com/golaunch/golaunch/runtime/world"
)

// suite is one rank's part of the benchmark.
type suite struct {
	ctx     context.Context
	comm    *world.Comm
	opt     bench.Options
	cores   int
	printer bench.Printer
}

func (s *suite) iterations(n int) int { return s.opt.Iterations(n, s.comm.Size(), s.cores) }

func (s *suite) clock(perBatch int) *bench.Clock { return bench.NewClock(s.opt.Batches, perBatch) }

// path is how the first and the last rank reach each other, who are on different
// hosts if any are. It is asked at the first one.
func (s *suite) path() string {
	if s.comm.Size() == 1 {
		return "shm"
	}
	return s.comm.Path(s.comm.Size() - 1)
}

// report prints the result as rank 0 measured it.
func (s *suite) report(c *bench.Clock, op string, bytes int, buffers string) error {
	if s.comm.Rank() != 0 {
		return nil
	}
	return s.printer.Print(bench.Result{
		Op: op, Bytes: bytes, US: c.Microseconds(),
		Ranks: s.comm.Size(), Transport: s.path(), Buffers: buffers,
	})
}
