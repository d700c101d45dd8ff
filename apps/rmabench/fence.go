package main

import (
	"fmt"

	"github.com/golaunch/golaunch/apps/internal/bench"
)

// fenceRounds is how often verifyFence passes a value around.
const fenceRounds = 20

// fence measures batches of Fence by every rank, and verifies that it completes
// Puts.
func (s *suite) fence() error {
	n := s.iterations(5000)
	c := s.clock(n)
	if err := s.barrier(); err != nil {
		return err
	}
	for range s.opt.Batches {
		c.Start()
		for range n {
			if err := s.data.Fence(s.ctx); err != nil {
				return err
			}
		}
		c.Stop()
	}
	fence := func() error { return s.data.Fence(s.ctx) }
	if err := s.verifyFence(fence); err != nil {
		return err
	}
	return s.report(c, "fence", 0, bench.Arena)
}

// verifyFence is an error unless what the left neighbour Put between two fences
// is here after the second, in every round.
func (s *suite) verifyFence(fence func() error) error {
	rank, ranks := s.comm.Rank(), s.comm.Size()
	left, right := (rank+ranks-1)%ranks, (rank+1)%ranks
	for round := range fenceRounds {
		if err := fence(); err != nil {
			return err
		}
		if err := s.data.Put(right, 0, []int64{token(rank, round)}); err != nil {
			return err
		}
		if err := fence(); err != nil {
			return err
		}
		if got, want := s.data.Local()[0], token(left, round); got != want {
			return fmt.Errorf("round %d: found %#x, want rank %d's %#x", round, got, left, want)
		}
	}
	return nil
}

// token is what a rank Puts in a round; no two are equal.
func token(rank, round int) int64 { return int64(rank+1)<<32 | int64(round+1) }
