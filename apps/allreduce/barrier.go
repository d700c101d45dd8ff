package main

import (
	"fmt"

	"github.com/golaunch/golaunch/apps/internal/bench"
	"github.com/golaunch/golaunch/collectives"
	"github.com/golaunch/golaunch/window"
)

// barrierRounds is how often verifyBarrier counts the ranks.
const barrierRounds = 20

// barrier measures batches of Barrier, and verifies that none lets a rank pass
// before all have come.
func (s *suite) barrier() error {
	n := s.iterations(5000)
	c := s.clock(n)
	for range s.opt.Batches {
		c.Start()
		for range n {
			if err := collectives.Barrier(s.ctx, s.comm); err != nil {
				return err
			}
		}
		c.Stop()
	}
	barrier := func() error { return collectives.Barrier(s.ctx, s.comm) }
	if err := s.verifyBarrier(barrier); err != nil {
		return err
	}
	return s.report(c, "barrier", 0, bench.Arena)
}

// verifyBarrier has every rank add 1 to a counter of rank 0, pass the barrier
// and find the additions of all ranks there, in every round.
func (s *suite) verifyBarrier(barrier func() error) error {
	counter, err := window.Allocate[int64](s.ctx, s.comm, 1, window.Name("barrier"))
	if err != nil {
		return err
	}
	if err := counter.LockAll(s.ctx); err != nil {
		return err
	}
	for round := 1; round <= barrierRounds; round++ {
		if err := s.meet(counter, barrier, int64(round*s.comm.Size())); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
	}
	if err := counter.UnlockAll(); err != nil {
		return err
	}
	return counter.Free(s.ctx)
}

// meet is one round. The second barrier keeps the next round's additions away
// from this round's reading.
func (s *suite) meet(counter *window.Window[int64], barrier func() error, want int64) error {
	if _, err := counter.FetchAdd(0, 0, 1); err != nil {
		return err
	}
	if err := barrier(); err != nil {
		return err
	}
	got, err := counter.FetchAdd(0, 0, 0)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("%d ranks had come after the barrier, want %d", got, want)
	}
	return barrier()
}
