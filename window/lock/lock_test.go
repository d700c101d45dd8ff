package lock

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/golaunch/golaunch/runtime/job"
)

// countBody takes the lock in both modes, and now and then gives up waiting for it.
// Writers change two words that readers must find equal.
func countBody(ctx context.Context, s *seat) error {
	random := rand.New(rand.NewPCG(uint64(s.me), 1))
	for range 3000 {
		mode := Mode(1 + random.IntN(2))
		done, err := acquireOrGiveUp(ctx, &s.Lock, mode, random.IntN(8) == 0)
		if err == nil && done {
			err = errors.Join(s.count(mode), s.Release(mode))
		}
		if err != nil {
			return fmt.Errorf("member %d: %w", s.me, err)
		}
	}
	return s.meet(ctx)
}

// count changes the words, or looks at them, with the lock held.
func (s *seat) count(mode Mode) error {
	if err := s.checkFair(mode); err != nil {
		return err
	}
	a, b, own := testWord(s.mem, 0), testWord(s.mem, 8), testWord(s.mem, 16+s.me)
	if *a != *b {
		return fmt.Errorf("with the lock held %v, %d and %d differ", mode, *a, *b)
	}
	if mode == Exclusive {
		*a++
		*own++
		*b++
	}
	return nil
}

// checkFair: a request that was in the queue at an earlier turn of this member is not
// there any more at a later one. (Except for readers that get the lock with this one:
// they may not have been told yet, so only writers look.)
func (s *seat) checkFair(mode Mode) error {
	for m, word := range s.words.slots {
		slot := word.Load()
		if phaseOf(slot) != queued {
			continue
		}
		if seen := ticketOf(slot) + 1; mode == Shared || s.overtaken[m] != seen {
			s.overtaken[m] = seen
			continue
		}
		return fmt.Errorf("overtakes member %d, whose ticket is %d", m, ticketOf(slot))
	}
	return nil
}

var errImpatient = errors.New("impatient")

// acquireOrGiveUp reports whether the lock is held: not when it was given up.
func acquireOrGiveUp(ctx context.Context, l *Lock, mode Mode, impatient bool) (bool, error) {
	if !impatient {
		return true, l.Acquire(ctx, mode)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go cancel(errImpatient)
	err := l.Acquire(ctx, mode)
	if errors.Is(err, errImpatient) {
		return false, nil
	}
	return true, err
}

func checkCounts(t *testing.T, mem *job.Memory) {
	t.Helper()
	var sum uint64
	for m := range mem.Size() {
		sum += *testWord(mem, 16+m)
	}
	if got := *testWord(mem, 0); got != sum || sum == 0 {
		t.Errorf("writers counted to %d, they wrote %d times", got, sum)
	}
	s, err := newSeat(mem, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Idle() || s.words.latch.Load() != 0 {
		t.Errorf("at the end the state is %#x, the latch %#x", s.words.state.Load(), s.words.latch.Load())
	}
}

func TestGoroutinesExclude(t *testing.T) {
	for n := range 5 {
		mem := newMembers(t, n+1, true)
		var wait sync.WaitGroup
		for me := range n + 1 {
			s, err := newSeat(mem, me)
			if err != nil {
				t.Fatal(err)
			}
			wait.Go(func() {
				defer s.waiter.Close()
				if err := countBody(t.Context(), s); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		checkCounts(t, mem)
	}
}

func TestProcessesExclude(t *testing.T) {
	for _, procs := range []int{1, 2, 4} {
		for _, n := range []int{2, 4} {
			t.Run(fmt.Sprintf("%d members with GOMAXPROCS %d", n, procs), func(t *testing.T) {
				mem := newMembers(t, n, false)
				fleet := start(t, os.Args[0], mem, "count", fmt.Sprintf("GOMAXPROCS=%d", procs))
				for m := range n {
					if err := fleet.wait(m); err != nil {
						t.Error(err)
					}
				}
				checkCounts(t, mem)
			})
		}
	}
}
