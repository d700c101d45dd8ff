package main

import (
	"context"
	"fmt"
	"io"

	"github.com/golaunch/golaunch/apps/internal/bench"
	"github.com/golaunch/golaunch/apps/internal/bench/machine"
	"github.com/golaunch/golaunch/collectives"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/window"
)

// suite is one rank's part of the benchmark.
type suite struct {
	ctx     context.Context
	comm    *world.Comm
	opt     bench.Options
	cores   int
	printer bench.Printer
	out     io.Writer // nil at ranks that print nothing

	data *window.Window[int64] // as long as the largest size, on every rank
	seed int64                 // differs between any two measurements that follow each other
}

func newSuite(ctx context.Context, comm *world.Comm, o bench.Options) (*suite, error) {
	data, err := window.Allocate[int64](ctx, comm, o.Largest()/word, window.Name("rmabench"))
	if err != nil {
		return nil, err
	}
	return &suite{ctx: ctx, comm: comm, opt: o, cores: machine.Cores(), data: data}, nil
}

func (s *suite) free() error {
	return s.data.Free(s.ctx)
}

// measure runs everything that was asked for. What runs under LockAll comes
// first: a window is not fenced inside a passive epoch.
func (s *suite) measure() error {
	if err := s.passive(); err != nil {
		return err
	}
	if s.opt.Wants("lock_put_unlock") {
		n := s.iterations(5000)
		if err := s.eachBuffer(1, func(kind string, buf []int64) error { return s.lockPutUnlock(kind, buf, n) }); err != nil {
			return fmt.Errorf("lock_put_unlock: %w", err)
		}
	}
	if s.opt.Wants("fence") {
		if err := s.fence(); err != nil {
			return fmt.Errorf("fence: %w", err)
		}
	}
	if s.opt.Wants(coherentOp) {
		if err := s.coherent(); err != nil {
			return fmt.Errorf("coherent: %w", err)
		}
	}
	if s.opt.Wants(passiveOp) {
		if err := s.besideOthers(); err != nil {
			return fmt.Errorf("passive: %w", err)
		}
	}
	return nil
}

func (s *suite) passive() error {
	if err := s.data.LockAll(s.ctx); err != nil {
		return err
	}
	if err := s.eachBuffer(s.opt.Largest()/word, s.putsAndGets); err != nil {
		return err
	}
	if s.opt.Wants("fetch_add") {
		if err := s.fetchAdd(s.iterations(20000)); err != nil {
			return fmt.Errorf("fetch_add: %w", err)
		}
	}
	return s.data.UnlockAll()
}

// eachBuffer runs do with a buffer of n elements of each kind asked for.
func (s *suite) eachBuffer(n int, do func(kind string, buf []int64) error) error {
	for _, kind := range s.opt.Buffers {
		buf, free, err := bench.Buffer[int64](s.comm.Arena(), kind, n)
		if err != nil {
			return err
		}
		bench.Fill(buf, 1) // touches every page before anything is timed
		if err := do(kind, buf); err != nil {
			return err
		}
		if err := free(); err != nil {
			return err
		}
	}
	return nil
}

func (s *suite) putsAndGets(kind string, buf []int64) error {
	for _, size := range s.opt.Sizes {
		n := s.iterations(transfers(size))
		if s.opt.Wants("put") {
			if err := s.put(kind, buf[:size/word], n); err != nil {
				return fmt.Errorf("put of %d bytes: %w", size, err)
			}
		}
		if s.opt.Wants("get") {
			if err := s.get(kind, buf[:size/word], n); err != nil {
				return fmt.Errorf("get of %d bytes: %w", size, err)
			}
		}
	}
	return nil
}

// transfers is how many Puts or Gets of size bytes a batch has.
func transfers(size int) int {
	switch {
	case size <= 1<<10:
		return 20000
	case size <= 64<<10:
		return 2000
	case size <= 1<<20:
		return 100
	}
	return 10
}

func (s *suite) iterations(n int) int { return s.opt.Iterations(n, s.comm.Size(), s.cores) }

func (s *suite) barrier() error { return collectives.Barrier(s.ctx, s.comm) }

// path is how the origin reaches the target.
func (s *suite) path() string { return s.data.Path(target) }

func (s *suite) is(rank int) bool { return s.comm.Rank() == rank }

func (s *suite) nextSeed() int64 {
	s.seed += 7
	return s.seed
}

func (s *suite) clock(perBatch int) *bench.Clock { return bench.NewClock(s.opt.Batches, perBatch) }

// report prints the result; only the origin has one.
func (s *suite) report(c *bench.Clock, op string, bytes int, buffers string) error {
	if !s.is(origin) {
		return nil
	}
	return s.printer.Print(bench.Result{
		Op: op, Bytes: bytes, US: c.Microseconds(),
		Ranks: s.comm.Size(), Transport: s.path(), Buffers: buffers,
	})
}
