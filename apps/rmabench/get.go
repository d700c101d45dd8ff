package main

import "github.com/golaunch/golaunch/apps/internal/bench"

// get measures batches of n Gets into buf, each with its Flush. The origin clears
// its buffer before and finds the target's pattern after.
func (s *suite) get(kind string, buf []int64, n int) error {
	seed, c := s.nextSeed(), s.clock(n)
	clear(buf)
	if s.is(target) {
		bench.Fill(s.data.Local()[:len(buf)], seed)
	}
	if err := s.barrier(); err != nil {
		return err
	}
	if s.is(origin) {
		if err := s.timeGet(c, buf, n); err != nil {
			return err
		}
		if err := bench.Holds(buf, seed); err != nil {
			return err
		}
	}
	if err := s.barrier(); err != nil {
		return err
	}
	return s.report(c, "get", len(buf)*word, kind)
}

func (s *suite) timeGet(c *bench.Clock, buf []int64, n int) error {
	for range s.opt.Batches {
		c.Start()
		for range n {
			if err := s.data.Get(target, 0, buf); err != nil {
				return err
			}
			if err := s.data.Flush(target); err != nil {
				return err
			}
		}
		c.Stop()
	}
	return nil
}
