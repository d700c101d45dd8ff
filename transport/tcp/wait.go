package tcp

import (
	"sync"

	"github.com/golaunch/golaunch/transport"
)

// A waiter is one blocked call: it waits until something has changed that it
// might be waiting for.
type waiter struct {
	c     *conn
	seen  state
	ready func() bool // made once, so that waiting allocates nothing
}

// A state is what changes when something happens that a call might be waiting for.
type state struct {
	gen, places uint64
	granted     uint32
}

func (p *peer) state() state {
	return state{p.gen.Load(), p.e.arrivals.places.Load(), p.tx.granted()}
}

// waiters are kept.
type waiters struct {
	mu   sync.Mutex
	free []*waiter
}

func (w *waiter) changed() bool {
	return w.c.peer.state() != w.seen || w.c.end() != nil
}

func (s *waiters) get() *waiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.free) - 1
	if last < 0 {
		w := new(waiter)
		w.ready = w.changed
		return w
	}
	w := s.free[last]
	s.free = s.free[:last]
	return w
}

// put takes a waiter back. Config.Wait has returned and asks it no more.
func (s *waiters) put(w *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.c = nil
	s.free = append(s.free, w)
}

// wait blocks until the peer's state is no longer what was seen, or until waiting is
// pointless. No lock is held.
func (c *conn) wait(seen state) error {
	e := c.peer.e
	w := e.waiters.get()
	w.c, w.seen = c, seen
	e.blocked.Add(1)
	err := e.cfg.Wait(e.ctx, c.peer.rank, w.ready)
	e.blocked.Add(-1)
	e.waiters.put(w)
	if ended := c.end(); ended != nil {
		return ended
	}
	if err != nil && e.closed.Load() {
		return transport.ErrClosed
	}
	return err
}
