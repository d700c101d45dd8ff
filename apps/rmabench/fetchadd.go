package main

import (
	"fmt"

	"github.com/golaunch/golaunch/apps/internal/bench"
)

// fetchAdd measures batches of n FetchAdds of 1. The last one of each batch must
// have found what all those before it left, and the target must hold their number.
func (s *suite) fetchAdd(n int) error {
	const bytes = 8
	c := s.clock(n)
	s.data.Local()[0] = 0
	if err := s.barrier(); err != nil {
		return err
	}
	if s.is(origin) {
		if err := s.timeFetchAdd(c, n); err != nil {
			return err
		}
	}
	if err := s.barrier(); err != nil {
		return err
	}
	if s.is(target) {
		if got, want := s.data.Local()[0], int64(n*s.opt.Batches); got != want {
			return fmt.Errorf("the target holds %d, want %d", got, want)
		}
	}
	return s.report(c, "fetch_add", bytes, bench.Arena)
}

func (s *suite) timeFetchAdd(c *bench.Clock, n int) error {
	for batch := range s.opt.Batches {
		var last int64
		var err error
		c.Start()
		for range n {
			if last, err = s.data.FetchAdd(target, 0, 1); err != nil {
				return err
			}
		}
		c.Stop()
		if want := int64((batch+1)*n - 1); last != want {
			return fmt.Errorf("the last of batch %d found %d, want %d", batch, last, want)
		}
	}
	return nil
}
