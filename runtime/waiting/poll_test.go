package waiting

import (
	"sync/atomic"
	"testing"
	"time"
)

// A source does what it is told; nil: nothing.
type source struct {
	poll         func() bool
	rest, drowse func()
}

func (s source) Poll() bool { return s.poll != nil && s.poll() }
func (s source) Rest()      { do(s.rest) }
func (s source) Drowse()    { do(s.drowse) }

func do(f func()) {
	if f != nil {
		f()
	}
}

func TestWaitingPolls(t *testing.T) {
	for _, cores := range []int{1, 2} {
		mem := world(t, 2, cores)
		w := New(mem, 0)
		t.Cleanup(w.Close)
		var f flag
		polls := 0
		w.SetPoll(PollTime, source{poll: func() bool {
			if polls++; polls == 3 {
				f.up.Store(true)
			}
			return polls == 3
		}, rest: func() { t.Error("it rests although what it waits for comes by polling") }})
		if err := receive(t, until(w, t.Context(), &f)); err != nil {
			t.Error(err)
		}
		if polls != 3 {
			t.Errorf("%d cores: polled %d times, want 3", cores, polls)
		}
	}
}

// What arrives after rest rings; what rest itself leaves must be seen without.
func TestRestComesBeforeSleep(t *testing.T) {
	for name, rest := range map[string]func(w *Waiter, f *flag){
		"left by rest":   func(_ *Waiter, f *flag) { f.up.Store(true) },
		"rings later":    func(w *Waiter, f *flag) { go func() { f.up.Store(true); w.Wake() }() },
		"rings at once":  func(w *Waiter, f *flag) { f.up.Store(true); w.Wake() },
		"rings for none": func(w *Waiter, f *flag) { w.Wake(); go func() { f.up.Store(true); w.Wake() }() },
	} {
		t.Run(name, func(t *testing.T) {
			w := New(world(t, 2, 2), 0)
			t.Cleanup(w.Close)
			var f flag
			var rested, polled atomic.Int64
			w.SetPoll(PollTime, source{poll: func() bool { return polled.Add(1) == 0 }, rest: func() { rested.Add(1); rest(w, &f) }})
			if err := receive(t, until(w, t.Context(), &f)); err != nil {
				t.Error(err)
			}
			if rested.Load() != 1 || polled.Load() == 0 {
				t.Errorf("rested %d times after %d polls", rested.Load(), polled.Load())
			}
		})
	}
}

// What a Poll has brought goes back with the next one: the last before the rank sleeps
// brings nothing, however late it is.
func TestLastPollBringsNothing(t *testing.T) {
	for _, cores := range []int{1, 2} {
		w := New(world(t, 2, cores), 0)
		t.Cleanup(w.Close)
		var f flag
		var began time.Time
		brought := false
		w.SetPoll(PollTime, source{poll: func() bool {
			if began.IsZero() {
				began = time.Now()
			}
			brought = time.Since(began) < 10*PollTime
			return brought
		}, rest: func() {
			if brought {
				t.Errorf("%d cores: it rests after a Poll that brought something", cores)
			}
			f.up.Store(true)
		}})
		if err := receive(t, until(w, t.Context(), &f)); err != nil {
			t.Error(err)
		}
	}
}

// What only rings when it arrives is fetched by the sleeper itself, also when
// SetPoll came after it lay down.
func TestSleeperFetchesWhatRings(t *testing.T) {
	for name, late := range map[string]bool{"SetPoll before": false, "SetPoll while it sleeps": true} {
		t.Run(name, func(t *testing.T) {
			mem := world(t, 2, 2)
			w := New(mem, 0)
			t.Cleanup(w.Close)
			var f flag
			var arrived atomic.Bool
			fetch := func() {
				if arrived.Load() {
					f.up.Store(true)
				}
			}
			set := func() { w.SetPoll(PollTime, source{drowse: fetch}) }
			if !late {
				set()
			}
			over := until(w, t.Context(), &f)
			for asleep := false; !asleep; { // it lies down, whatever else it may try
				w.mu.Lock()
				asleep = w.sleeping
				w.mu.Unlock()
			}
			if late {
				set()
			}
			arrived.Store(true)
			w.Wake()
			if err := receive(t, over); err != nil {
				t.Error(err)
			}
		})
	}
}
