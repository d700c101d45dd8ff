package waiting

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/golaunch/golaunch/runtime/relax"
)

// PollTime is how long a rank that shares its core polls before it sleeps: a round
// trip on a local network, and the time that a peer takes to wake up for it.
const PollTime = 300 * time.Microsecond

// polling is what a rank does about transports that do not leave what arrives in
// shared memory, but where it has to be fetched.
type polling struct {
	source Source
	yield  func() // the core, after each Poll, if others need it; nil: they do not
	limit  time.Duration
	again  bool        // it polls again after each time that it was woken
	taken  atomic.Bool // by the goroutine that does
}

// A Source is where things arrive that have to be fetched. Several goroutines may call
// any method at once.
type Source interface {
	// Poll fetches what has come, and reports whether that was anything.
	Poll() bool
	// Rest is called before a goroutine sleeps: whatever arrives from then on must ring
	// the rank's bell. Who fetches it is one of two: somebody else, or Drowse.
	Rest()
	// Drowse is called when the bell has rung, and before a goroutine sleeps, when
	// nothing can come any more that would not ring.
	Drowse()
}

// SetPoll has waiting goroutines call s.Poll between looks at their conditions.
//
// A rank with a core of its own polls for limit, which is at least PollTime, and
// again whenever it was woken, whatever for: peers whose operations it serves find
// it awake as long as they come one after the other.
//
// Waits that have begun before SetPoll may not call poll any more, but drowse.
// Without SetPoll, waiting costs nothing more.
func (w *Waiter) SetPoll(limit time.Duration, s Source) {
	p := &polling{source: s, limit: PollTime}
	switch {
	case w.mem.InProcess():
		p.yield = runtime.Gosched
	case !w.spins:
		p.yield = relax.Yield
	case limit > PollTime:
		p.limit, p.again = limit, true
	}
	w.polls.Store(p)
}

// woken goes back to polling for the goroutine that was woken first.
func (w *Waiter) woken(ctx context.Context, c Condition) (over bool, err error) {
	p := w.polls.Load()
	if p == nil || !p.again || !p.taken.CompareAndSwap(false, true) {
		return false, nil
	}
	defer p.taken.Store(false)
	return poll(ctx, c, p.limit, p.source, p.yield)
}

// drowse fetches what rings, while the bell is drowsy.
func (w *Waiter) drowse() {
	if p := w.polls.Load(); p != nil {
		p.source.Drowse()
	}
}
