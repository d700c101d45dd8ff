package waiting

import (
	"context"
	"sync"
)

// A bench is where the goroutines of one rank sleep: one in the doorbell, the
// others parked beside it.
//
// Invariants, under mu: whenever sleeping is true, either the doorbell is drowsy
// (a waker rings) or the sleeper has woken and is about to wake the parked ones; a
// goroutine is in parked only while sleeping is true or a wake-up for it is under
// way.
type bench struct {
	mu       sync.Mutex
	sleeping bool
	parked   []chan struct{}
	alarm    alarm
}

// asleep waits without using a core.
func (w *Waiter) asleep(ctx context.Context, c Condition) error {
	own := w.alarm.set(ctx, w)
	defer w.alarm.release(ctx, own)
	for {
		var over bool
		var err error
		if ticket, ok := w.lieDown(); ok {
			over, err = w.doze(ctx, c, ticket)
		} else {
			over, err = w.park(ctx, c)
		}
		if !over {
			over, err = w.woken(ctx, c)
		}
		if over {
			return err
		}
	}
}

// lieDown makes the caller the sleeper if nobody is. The bell is drowsy before
// mu is released: whoever parks after that and then finds its condition not
// ready will have the sleeper woken for it.
func (w *Waiter) lieDown() (ticket uint32, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sleeping {
		return 0, false
	}
	w.sleeping = true
	return w.mem.Drowse(w.rank), true
}

// doze sleeps once in the doorbell and then wakes the parked goroutines, also
// when it did not have to sleep: they need a new sleeper.
func (w *Waiter) doze(ctx context.Context, c Condition, ticket uint32) (over bool, err error) {
	w.drowse()
	over, err = verdict(ctx, c)
	if !over {
		w.mem.Sleep(w.rank, ticket)
		w.drowse()
	}
	w.mem.Wake(w.rank)
	w.mu.Lock()
	w.sleeping = false
	parked := w.parked
	w.parked = nil
	w.mu.Unlock()
	for _, p := range parked {
		p <- struct{}{}
	}
	if over {
		return true, err
	}
	return verdict(ctx, c)
}

// park waits beside the sleeper until it wakes.
func (w *Waiter) park(ctx context.Context, c Condition) (over bool, err error) {
	turn := make(chan struct{}, 1)
	w.mu.Lock()
	if !w.sleeping {
		w.mu.Unlock()
		return verdict(ctx, c)
	}
	w.parked = append(w.parked, turn)
	w.mu.Unlock()
	if over, err := verdict(ctx, c); over {
		w.unpark(turn)
		return true, err
	}
	<-turn
	return verdict(ctx, c)
}

// unpark takes turn out of parked, unless the sleeper already has.
func (w *Waiter) unpark(turn chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, p := range w.parked {
		if p == turn {
			last := len(w.parked) - 1
			w.parked[i] = w.parked[last]
			w.parked = w.parked[:last]
			return
		}
	}
}

// An alarm rings the rank's bell when a context ends. Consecutive waits mostly
// use the same context, so the last one's registration is kept.
type alarm struct {
	mu     sync.Mutex
	done   <-chan struct{}
	stop   func() bool
	uses   int
	closed bool // the memory may be gone: an alarm that is late rings no more
}

// set arranges that the waiter is woken when ctx ends, until release. It returns
// the function that ends a registration of the caller's own, nil if it shares the
// kept one.
func (a *alarm) set(ctx context.Context, w *Waiter) (own func() bool) {
	if ctx.Done() == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.done != ctx.Done() {
		if a.uses > 0 {
			return context.AfterFunc(ctx, w.sound)
		}
		if a.stop != nil {
			a.stop()
		}
		a.done, a.stop = ctx.Done(), context.AfterFunc(ctx, w.sound)
	}
	a.uses++
	return nil
}

// sound is the alarm going off, in a goroutine of its own that may be arbitrarily
// late.
func (w *Waiter) sound() {
	w.alarm.mu.Lock()
	defer w.alarm.mu.Unlock()
	if !w.alarm.closed {
		w.Wake()
	}
}

func (a *alarm) release(ctx context.Context, own func() bool) {
	if ctx.Done() == nil {
		return
	}
	if own != nil {
		own()
		return
	}
	a.mu.Lock()
	a.uses--
	a.mu.Unlock()
}

// Close gives up what the Waiter keeps; afterwards the job's memory may be
// unmapped. Nobody may be waiting.
func (w *Waiter) Close() {
	w.alarm.mu.Lock()
	defer w.alarm.mu.Unlock()
	if w.alarm.stop != nil {
		w.alarm.stop()
	}
	w.alarm.done, w.alarm.stop, w.alarm.closed = nil, nil, true
}
