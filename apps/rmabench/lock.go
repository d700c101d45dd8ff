package main

import (
	"github.com/golaunch/golaunch/apps/internal/bench"
	"github.com/golaunch/golaunch/window"
)

// lockPutUnlock measures batches of n times exclusive Lock, Put of buf and Unlock.
// The target clears its memory before and finds the origin's pattern after.
func (s *suite) lockPutUnlock(kind string, buf []int64, n int) error {
	seed, c := s.nextSeed(), s.clock(n)
	local := s.data.Local()[:len(buf)]
	clear(local)
	bench.Fill(buf, seed)
	if err := s.barrier(); err != nil {
		return err
	}
	if s.is(origin) {
		if err := s.timeLockPutUnlock(c, buf, n); err != nil {
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
	return s.report(c, "lock_put_unlock", len(buf)*word, kind)
}

func (s *suite) timeLockPutUnlock(c *bench.Clock, buf []int64, n int) error {
	for range s.opt.Batches {
		c.Start()
		for range n {
			if err := s.lockedPut(buf); err != nil {
				return err
			}
		}
		c.Stop()
	}
	return nil
}

func (s *suite) lockedPut(buf []int64) error {
	if err := s.data.Lock(s.ctx, target, window.Exclusive); err != nil {
		return err
	}
	if err := s.data.Put(target, 0, buf); err != nil {
		return err
	}
	return s.data.Unlock(target)
}
