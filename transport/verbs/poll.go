//go:build cgo && linux

package verbs

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport"
)

// A poller is what Poll alone touches.
type poller struct {
	mu   sync.Mutex  // held by Poll; there to keep Close from under it
	lent []message   // what the last Poll delivered
	owes atomic.Bool // lent is not empty; for who does not hold mu
	full int         // Polls in a row that lived on what was there
}

// pollsUnread is how many Polls may live on what is there already.
const pollsUnread = 4

// Poll gives back what the last one delivered, takes completions from the device
// unless there is something already, and hands out what there is.
func (e *endpoint) Poll(done []transport.Completion) (int, error) {
	e.poll.mu.Lock()
	defer e.poll.mu.Unlock()
	if e.closed.Load() {
		return 0, fmt.Errorf("verbs: rank %d: Poll: %w", e.cfg.Rank, transport.ErrClosed)
	}
	e.giveBack()
	e.watcher.polled()
	if e.poll.full++; e.poll.full > pollsUnread || e.arrivals.queued.Load() == 0 {
		e.poll.full = 0
		e.harvest()
	}
	if e.arrivals.queued.Load() == 0 {
		return 0, nil
	}
	n, freed, lent := e.arrivals.take(done, e.poll.lent)
	e.poll.lent = lent
	e.poll.owes.Store(len(lent) > 0)
	if freed {
		e.advance()
	}
	return n, nil
}

// giveBack puts the buffers of the last Poll back into the receive queue, and then
// lets their senders know: never the other way round.
func (e *endpoint) giveBack() {
	if len(e.poll.lent) == 0 {
		return
	}
	for i := range e.poll.lent {
		m := &e.poll.lent[i]
		if m.copied != nil {
			e.copies.Put(m.copied)
		} else {
			e.repost(m.buffer, m.mem, m.lkey)
		}
		if n := e.credits.taken(m.from, m.copied != nil); n > 0 {
			m.from.giveCredit(n)
		}
		*m = message{}
	}
	e.poll.lent = e.poll.lent[:0]
	e.poll.owes.Store(false)
}

// wantsPoll reports whether somebody has to Poll: something is there, or senders may
// wait for what the last Poll has delivered.
func (e *endpoint) wantsPoll() bool { return e.arrivals.queued.Load() > 0 || e.poll.owes.Load() }

// Descriptor is the completion queue's channel.
func (e *endpoint) Descriptor() int { return e.cq.fd }

// Rest says that the rank stops polling in a loop.
func (e *endpoint) Rest() { e.watcher.rest() }

func (e *endpoint) ring() { e.cfg.Ring(e.cfg.Rank) }

// advance lets calls that wait look again.
func (e *endpoint) advance() {
	e.gen.Add(1)
	if e.blocked.Load() > 0 {
		e.ring()
	}
}

// tell announces what a goroutine of the endpoint has left for Poll, or has found that
// nobody has given back. No lock is held.
func (e *endpoint) tell() {
	if !e.wantsPoll() || e.closed.Load() {
		return
	}
	e.ring()
	if e.cfg.Progress != nil {
		e.telling.Lock()
		defer e.telling.Unlock()
		e.cfg.Progress()
	}
}
