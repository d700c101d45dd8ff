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
	pause func() // fetches, and yields the core if others need it
	rest  func()
}

// SetPoll has waiting goroutines call poll between looks at their conditions, and
// rest before they sleep: whatever arrives from then on must ring the rank's bell.
// Several goroutines may call either at once. SetPoll is called before the first
// wait; without it, waiting costs nothing more.
func (w *Waiter) SetPoll(poll, rest func()) {
	p := &polling{pause: poll, rest: rest}
	switch {
	case w.mem.InProcess():
		p.pause = func() { poll(); runtime.Gosched() }
	case !w.spins:
		p.pause = func() { poll(); yieldCore() }
	}
	w.polls = p
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
