package main

import "github.com/golaunch/golaunch/apps/internal/bench"

// put measures batches of n Puts of buf, each with its Flush. The target clears
// its memory before and finds the origin's pattern after.
func (s *suite) put(kind string, buf []int64, n int) error {
	seed, c := s.nextSeed(), s.clock(n)
	local := s.data.Local()[:len(buf)]
	clear(local)
	bench.Fill(buf, seed)
	if err := s.barrier(); err != nil {
		return err
	}
	if s.is(origin) {
		if err := s.timePut(c, buf, n); err != nil {
			return err
		}
	}
	if err := s.barrier(); err != nil {
		return err
	}
	if s.is(target) {
		if err := bench.Holds(local, seed); err != nil {
			return err
		}
	}
	return s.report(c, "put", len(buf)*word, kind)
}

func (s *suite) timePut(c *bench.Clock, buf []int64, n int) error {
	for range s.opt.Batches {
		c.Start()
		for range n {
			if err := s.data.Put(target, 0, buf); err != nil {
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
