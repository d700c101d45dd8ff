package main

import (
	"errors"
	"sync/atomic"

	"github.com/golaunch/golaunch/window"
)

// The counter and the bound of tsp in the three modes. Each has an array of its own: one
// changes with every task, the other should stay in everybody's cache.

func newTspMemory(j *job) (tspMemory, error) {
	s := tspWords{job: j}
	var err error
	if s.counter, err = newArray[int64](j, "tasks", 1); err != nil {
		return nil, err
	}
	if s.best, err = newArray[int64](j, "bound", 1); err != nil {
		return nil, err
	}
	if j.me() == home {
		if err := s.best.put(home, 0, []int64{none}); err != nil {
			return nil, err
		}
	}
	if err := s.best.fence(); err != nil {
		return nil, err
	}
	switch j.mode {
	case rma:
		return &tspRMA{tspWords: s, known: none}, nil
	case calls:
		return &tspCalls{s}, nil
	}
	return &tspLoads{s}, nil
}

// home is the rank that has the counter and the bound.
const home = 0

type tspWords struct {
	*job
	counter, best *array[int64]
}

func (s *tspWords) next() (int64, error) {
	s.counter.count(home, 1)
	return s.counter.win.FetchAdd(home, 0, 1)
}

func (s *tspWords) found(length int64) error {
	s.best.count(home, 1)
	return s.best.win.Accumulate(home, 0, []int64{length}, window.Min)
}

func (s *tspWords) get() (int64, error) {
	var bound [1]int64
	err := s.best.get(home, 0, bound[:])
	return bound[0], err
}

func (s *tspWords) shortest() (int64, error) {
	if err := s.best.fence(); err != nil {
		return 0, err
	}
	return s.get()
}

func (s *tspWords) free() error { return errors.Join(s.counter.free(), s.best.free()) }

// tspRMA knows a bound, and gets the present one with every task: it may search in vain,
// which is cheaper than to ask at every step.
type tspRMA struct {
	tspWords
	known int64
}

func (s *tspRMA) next() (number int64, err error) {
	if s.known, err = s.get(); err != nil {
		return 0, err
	}
	return s.tspWords.next()
}

func (s *tspRMA) bound() (int64, error) { return s.known, nil }

func (s *tspRMA) found(length int64) error {
	s.known = length
	return s.tspWords.found(length)
}

// tspCalls gets the bound at every step.
type tspCalls struct{ tspWords }

func (s *tspCalls) bound() (int64, error) { return s.get() }

// tspLoads has both as variables.
type tspLoads struct{ tspWords }

func (s *tspLoads) next() (int64, error) {
	return atomic.AddInt64(&s.counter.part(home)[0], 1) - 1, nil
}

func (s *tspLoads) bound() (int64, error) { return atomic.LoadInt64(&s.best.part(home)[0]), nil }

func (s *tspLoads) found(length int64) error {
	best := &s.best.part(home)[0]
	for old := atomic.LoadInt64(best); length < old; old = atomic.LoadInt64(best) {
		if atomic.CompareAndSwapInt64(best, old, length) {
			break
		}
	}
	return nil
}
