package main

import (
	"context"
	"fmt"

	"github.com/golaunch/golaunch/apps/internal/bench"
	"github.com/golaunch/golaunch/collectives"
	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/world"
)

// Where the buffers of results lie, beside the arena.
const file = "file" // a mapped one

// suite is one rank's part of the benchmark.
type suite struct {
	ctx       context.Context
	comm      *world.Comm
	opt       bench.Options
	cores     int
	registrar arena.Registrar
	transport string // the registrar's
	printer   bench.Printer
	pre       map[int]*variant // of Allreduce, by size, once it was timed
	seed      float64          // of the last sum
}

// farthest is how this rank reaches those on other hosts; "shm" if there are none. All
// ranks say the same.
func farthest(comm *world.Comm) string {
	for member := range comm.Size() {
		if path := comm.Path(member); path != "self" && path != "shm" {
			return path
		}
	}
	return "shm"
}

// alone has rank 0 do something while the others wait.
func (s *suite) alone(do func() error) error {
	var err error
	if s.comm.Rank() == 0 {
		err = do()
	}
	if err != nil {
		return err
	}
	return collectives.Barrier(s.ctx, s.comm)
}

// measure times batches of n operations, after one to warm up, and reports them.
func (s *suite) measure(op, buffers string, size, n int, one func() error) error {
	n = s.opt.Iterations(n, s.comm.Size(), s.cores)
	c := bench.NewClock(s.opt.Batches, n)
	if err := one(); err != nil {
		return err
	}
	for range s.opt.Batches {
		c.Start()
		for range n {
			if err := one(); err != nil {
				return err
			}
		}
		c.Stop()
	}
	return s.report(c, op, buffers, size)
}

func (s *suite) report(c *bench.Clock, op, buffers string, size int) error {
	if s.comm.Rank() != 0 {
		return nil
	}
	return s.printer.Print(bench.Result{
		Op: op, Bytes: size, US: c.Microseconds(), Ranks: s.comm.Size(), Transport: s.transport, Buffers: buffers,
	})
}

// registrations is how many operations a batch has: some may take 100 µs and more.
func registrations(size int) int {
	switch {
	case size <= 64<<10:
		return 500
	case size <= 1<<20:
		return 100
	}
	return 10
}

// registering registers memory of the rank's arena.
func (s *suite) registering(mem []byte) (end func() error, err error) {
	at, ok := s.comm.Arena().Locate(mem)
	if !ok {
		return nil, fmt.Errorf("%d bytes are not of the arena", len(mem))
	}
	region, err := s.registrar.Register(at.Key, at.Offset, mem)
	if err != nil {
		return nil, err
	}
	return region.Close, nil
}
