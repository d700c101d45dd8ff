package waiting

import (
	"context"
	"runtime"
	"time"
)

// pollTime is how long a rank polls before it sleeps: a round trip on a local
// network, and the time that a peer takes to wake up for it.
const pollTime = 300 * time.Microsecond

// polling is what a rank does about transports that do not leave what arrives in
// shared memory, but where it has to be fetched.
type polling struct {
	pause  func() // fetches, and yields the core if others need it
	rest   func()
	drowse func()
}

// SetPoll has waiting goroutines call poll between looks at their conditions, and
// rest before they sleep: whatever arrives from then on must ring the rank's bell.
// Who fetches it is one of two: somebody else, or drowse, which a goroutine calls
// when the bell has rung, and before it sleeps, when nothing can come any more that
// would not ring. Several goroutines may call any of them at once.
//
// Waits that have begun before SetPoll may not call poll any more, but drowse.
// Without SetPoll, waiting costs nothing more.
func (w *Waiter) SetPoll(poll, rest, drowse func()) {
	p := &polling{pause: poll, rest: rest, drowse: drowse}
	switch {
	case w.mem.InProcess():
		p.pause = func() { poll(); runtime.Gosched() }
	case !w.spins:
		p.pause = func() { poll(); yieldCore() }
	}
	w.polls.Store(p)
}

// awake looks at c and polls until either is over; over is false when the time for
// that has passed.
func (p *polling) awake(ctx context.Context, c Condition) (over bool, err error) {
	over, err = poll(ctx, c, pollTime, p.pause)
	if !over {
		p.rest()
	}
	return over, err
}

// drowse fetches what rings, while the bell is drowsy.
func (w *Waiter) drowse() {
	if p := w.polls.Load(); p != nil {
		p.drowse()
	}
}
