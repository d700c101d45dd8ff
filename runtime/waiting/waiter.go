// Package waiting is how a rank waits for something that another rank does: it
// spins while there is a core for every rank of the host, then yields its core,
// then sleeps on its doorbell. A rank that shares its core with others never
// spins, and nobody burns a core for longer than a fraction of a millisecond.
//
// One goroutine of a rank at a time, the sleeper, is inside the doorbell's futex.
// The others park on channels, so ten thousand waiting goroutines hold one
// thread. Whenever the sleeper wakes it wakes the parked ones too, because the
// bell does not say for whom it rang; the first that still has to wait becomes
// the next sleeper.
//
// # Lock order
//
// Waiter.mu is a leaf: a Condition is never asked while it is held.
package waiting

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/golaunch/golaunch/runtime/job"
	"github.com/golaunch/golaunch/runtime/relax"
)

// A Condition is what somebody waits for.
type Condition interface {
	// Ready reports whether the wait is over. It is called in spin loops: it must
	// be cheap, and must look only at what is stored atomically before the rank is
	// rung.
	Ready() bool
	// Err returns why Ready can no longer become true: a rank that failed, a broken
	// communicator. It is asked now and then, and after every wake-up. When both Ready
	// and Err hold, Ready counts.
	Err() error
}

// How long a rank waits in each way. A wake-up through the futex costs some 5 us
// at the waker and 5 to 50 us at the sleeper, so spinning and yielding for about
// as long is never more than twice as bad as the best choice.
const (
	pausesPerSpin = 4
	// pausesPerVerdict is how many pauses pass between two looks at the clock, the
	// context, and what may have failed.
	pausesPerVerdict = 8
	spinTime         = 10 * time.Microsecond
	yieldTime        = 200 * time.Microsecond
)

// A Waiter waits for one rank. All goroutines of the rank share it.
type Waiter struct {
	mem   *job.Memory
	rank  int
	spins bool
	polls atomic.Pointer[polling] // nil: there is nothing to poll
	bench
}

// New returns the Waiter of rank. It spins when there is a core for each of the
// ranks that share the host's.
func New(mem *job.Memory, rank int) *Waiter {
	return &Waiter{mem: mem, rank: rank, spins: mem.Sharers() <= mem.Cores()}
}

// Spins reports whether this rank may spin: there is a core for it alone.
func (w *Waiter) Spins() bool { return w.spins }

// Wake makes every waiting goroutine of this rank look at its condition and its
// context again.
func (w *Waiter) Wake() { w.mem.Ring(w.rank) }

// Until returns nil when c is ready, c's error when it can no longer become
// ready, or the cause of ctx's end. It allocates nothing unless several
// goroutines of the rank sleep at once or use different contexts.
func (w *Waiter) Until(ctx context.Context, c Condition) error {
	if c.Ready() {
		Synchronize()
		return nil
	}
	over, err := false, error(nil)
	if p := w.polls.Load(); p != nil {
		over, err = poll(ctx, c, p.limit, p.source, p.yield)
	} else {
		over, err = w.awake(ctx, c)
	}
	if !over {
		err = w.asleep(ctx, c)
	}
	Synchronize()
	return err
}

// awake spins and yields; over is false when the time for that has passed.
func (w *Waiter) awake(ctx context.Context, c Condition) (over bool, err error) {
	if w.spins {
		if over, err := poll(ctx, c, spinTime, nil, spin); over {
			return true, err
		}
	}
	if w.mem.InProcess() {
		return poll(ctx, c, yieldTime, nil, runtime.Gosched)
	}
	over, err = poll(ctx, c, yieldTime, nil, relax.Yield)
	if !over {
		runtime.Gosched()
	}
	return over, err
}

// poll looks at c, after each Poll of source and each pause, until c or ctx is over or
// the time is; then source may Rest. It does not before a Poll has brought nothing: what
// one has brought is given back to its senders by the next. source or pause may be nil.
//
// It does not call Gosched for each pause: with nothing else to run in this
// process that still makes the scheduler wake a thread to look for work, which
// takes the core from a rank that has some (8 ranks on 2 cores: 35 us a round
// with it, 13 us without). Goroutines of this rank have a P of their own.
//
// Ready is asked after every pause, everything else only now and then: between
// ranks that take turns on a core it would be a tenth of the turn.
func poll(ctx context.Context, c Condition, limit time.Duration, source Source, pause func()) (over bool, err error) {
	var start time.Time
	for pauses := 1; ; pauses++ {
		brought := source != nil && source.Poll()
		if pause != nil {
			pause()
		}
		if c.Ready() {
			return true, nil
		}
		if pauses%pausesPerVerdict != 0 {
			continue
		}
		if over, err := verdict(ctx, c); over {
			return true, err
		}
		if start.IsZero() {
			start = time.Now()
		} else if !brought && time.Since(start) > limit {
			if source != nil {
				source.Rest()
			}
			return false, nil
		}
	}
}

// spin lets about a quarter of a microsecond pass.
func spin() {
	for range pausesPerSpin {
		relax.CPU()
	}
}

// verdict asks everything but whether to go on waiting.
func verdict(ctx context.Context, c Condition) (over bool, err error) {
	if c.Ready() {
		return true, nil
	}
	err = c.Err()
	if err == nil {
		if ctx.Err() == nil {
			return false, nil
		}
		err = context.Cause(ctx)
	}
	if c.Ready() { // it came true before what Err saw: a rank that published and left
		return true, nil
	}
	return true, err
}
