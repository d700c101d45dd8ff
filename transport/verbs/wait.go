//go:build cgo && linux

package verbs

import (
	"runtime"
	"sync"

	"github.com/golaunch/golaunch/transport"
)

// A waiter is one blocked call: it waits until something has ended.
type waiter struct {
	e     *endpoint
	gen   uint64
	ready func() bool // made once, so that waiting allocates nothing
}

// waiters are kept.
type waiters struct {
	mu   sync.Mutex
	free []*waiter
}

func (s *waiters) get(e *endpoint, gen uint64) *waiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	var w *waiter
	if last := len(s.free) - 1; last >= 0 {
		w, s.free = s.free[last], s.free[:last]
	} else {
		w = &waiter{e: e}
		w.ready = func() bool { return w.e.gen.Load() != w.gen || w.e.closed.Load() }
	}
	w.gen = gen
	return w
}

// put takes a waiter back. Config.Wait has returned and asks it no more.
func (s *waiters) put(w *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, w)
}

// looks is how often a call looks at the completion queue by itself, about the time
// of a round trip, before it waits in Config.Wait, where its goroutine sleeps.
const looks = 64

// wait returns when gen is no longer what it was, or waiting is pointless. No lock is
// held.
func (e *endpoint) wait(rank int, gen uint64) error {
	for i := range looks {
		if e.gen.Load() != gen || e.closed.Load() {
			return nil
		}
		if e.harvest() {
			e.watcher.left()
		}
		if i%16 == 15 {
			runtime.Gosched()
		}
	}
	w := e.waiters.get(e, gen)
	defer e.waiters.put(w)
	e.blocked.Add(1)
	defer e.blocked.Add(-1)
	e.watcher.rest()
	err := e.cfg.Wait(e.ctx, rank, w.ready)
	if e.closed.Load() {
		return transport.ErrClosed
	}
	return err
}
