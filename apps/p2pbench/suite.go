package main

import (
	"context"
	"fmt"

	"github.com/golaunch/golaunch/apps/internal/bench"
	"github.com/golaunch/golaunch/collectives"
	"github.com/golaunch/golaunch/runtime/world"
)

// suite is one rank's part of the benchmark.
type suite struct {
	ctx     context.Context
	comm    *world.Comm
	opt     options
	cores   int
	path    string // between ranks 0 and 1
	printer bench.Printer
	seed    int64 // differs between any two measurements that follow each other
}

// pingpongs runs all sizes with all kinds of buffers.
func (s *suite) pingpongs() error {
	for _, kind := range s.opt.Buffers {
		buf, free, err := bench.Buffer[int64](s.comm.Arena(), kind, s.opt.Largest()/word)
		if err != nil {
			return err
		}
		bench.Fill(buf, 1) // touches every page before anything is timed
		for _, size := range s.opt.Sizes {
			if err := s.pingpong(kind, buf[:size/word], s.iterations(size)); err != nil {
				return fmt.Errorf("pingpong of %d bytes: %w", size, err)
			}
		}
		if err := free(); err != nil {
			return err
		}
	}
	return nil
}

// pingpong measures batches of n round trips.
func (s *suite) pingpong(kind string, buf []int64, n int) error {
	return s.measure("pingpong", s.path, kind, buf, n, func(n int) error { return s.trips(buf, n) })
}

// trips are n round trips.
func (s *suite) trips(buf []int64, n int) error {
	const tag = 7
	for range n {
		if s.comm.Rank() == 0 {
			if err := world.Send(s.ctx, s.comm, 1, tag, buf); err != nil {
				return err
			}
			if _, err := world.Recv(s.ctx, s.comm, 1, tag, buf); err != nil {
				return err
			}
			continue
		}
		if _, err := world.Recv(s.ctx, s.comm, 0, tag, buf); err != nil {
			return err
		}
		if err := world.Send(s.ctx, s.comm, 0, tag, buf); err != nil {
			return err
		}
	}
	return nil
}

// measure times batches of n round trips of buf, which trips makes, after one to
// warm up. Rank 0 finds what it had sent.
func (s *suite) measure(op, path, kind string, buf []int64, n int, trips func(n int) error) error {
	s.seed += 7
	if bench.Fill(buf, s.seed); s.comm.Rank() > 0 {
		bench.Fill(buf, -s.seed)
	}
	if err := s.barrier(); err != nil {
		return err
	}
	c := bench.NewClock(s.opt.Batches, 2*n)
	if s.comm.Rank() < 2 {
		if err := s.batches(c, n, trips); err != nil {
			return err
		}
		if err := bench.Holds(buf, s.seed); err != nil {
			return err
		}
	}
	if err := s.report(c, op, path, kind, len(buf)*word); err != nil {
		return err
	}
	return s.barrier()
}

func (s *suite) batches(c *bench.Clock, n int, trips func(n int) error) error {
	if err := trips(1); err != nil {
		return err
	}
	for range s.opt.Batches {
		c.Start()
		if err := trips(n); err != nil {
			return err
		}
		c.Stop()
	}
	return nil
}

func (s *suite) report(c *bench.Clock, op, path, kind string, bytes int) error {
	if s.comm.Rank() != 0 {
		return nil
	}
	return s.printer.Print(bench.Result{
		Op: op, Bytes: bytes, US: c.Microseconds(), Ranks: s.comm.Size(), Transport: path, Buffers: kind,
	})
}

// iterations is how many round trips of size bytes a batch has.
func (s *suite) iterations(size int) int {
	n := 10
	switch {
	case size <= 1<<10:
		n = 20000
	case size <= 64<<10:
		n = 2000
	case size <= 1<<20:
		n = 100
	}
	return s.opt.Iterations(n, s.comm.Size(), s.cores)
}

func (s *suite) barrier() error { return collectives.Barrier(s.ctx, s.comm) }
