package waiting

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"
)

// PollTime is how long a rank that shares its core polls before it sleeps: a round
// trip on a local network, and the time that a peer takes to wake up for it.
const PollTime = 300 * time.Microsecond

// polling is what a rank does about transports that do not leave what arrives in
// shared memory, but where it has to be fetched.
type polling struct {
	pause  func() // fetches, and yields the core if others need it
	rest   func()
	drowse func()
	limit  time.Duration
	again  bool        // it polls again after each time that it was woken
	taken  atomic.Bool // by the goroutine that does
}

// SetPoll has waiting goroutines call poll between looks at their conditions, and
// rest before they sleep: whatever arrives from then on must ring the rank's bell.
// Who fetches it is one of two: somebody else, or drowse, which a goroutine calls
// when the bell has rung, and before it sleeps, when nothing can come any more that
// would not ring. Several goroutines may call any of them at once.
//
// A rank with a core of its own polls for limit, which is at least PollTime, and
// again whenever it was woken, whatever for: peers whose operations it serves find
// it awake as long as they come one after the other.
//
// Waits that have begun before SetPoll may not call poll any more, but drowse.
// Without SetPoll, waiting costs nothing more.
func (w *Waiter) SetPoll(limit time.Duration, poll, rest, drowse func()) {
	p := &polling{pause: poll, rest: rest, drowse: drowse, limit: PollTime}
	switch {
	case w.mem.InProcess():
		p.pause = func() { poll(); runtime.Gosched() }
	case !w.spins:
		p.pause = func() { poll(); yieldCore() }
	case limit > PollTime:
		p.limit, p.again = limit, true
	}
	w.polls.Store(p)
}

// awake looks at c and polls until either is over; over is false when the time for
// that has passed.
func (p *polling) awake(ctx context.Context, c Condition) (over bool, err error) {
	over, err = poll(ctx, c, p.limit, p.pause)
	if !over {
		p.rest()
	}
	return over, err
}

// woken goes back to polling for the goroutine that was woken first.
func (w *Waiter) woken(ctx context.Context, c Condition) (over bool, err error) {
	p := w.polls.Load()
	if p == nil || !p.again || !p.taken.CompareAndSwap(false, true) {
		return false, nil
	}
	defer p.taken.Store(false)
	return p.awake(ctx, c)
}

// drowse fetches what rings, while the bell is drowsy.
func (w *Waiter) drowse() {
	if p := w.polls.Load(); p != nil {
		p.drowse()
	}
}
