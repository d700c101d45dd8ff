package lock

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golaunch/golaunch/runtime/job"
)

// A queue is a lock whose members act in a known order.
type queue struct {
	t     *testing.T
	mem   *job.Memory
	seats []*seat
	got   chan int // members in the order in which they got the lock
	ends  []chan error
}

func newQueue(t *testing.T, n int) *queue {
	q := &queue{t: t, mem: newMembers(t, n, true), got: make(chan int, n)}
	for me := range n {
		s, err := newSeat(q.mem, me)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.waiter.Close)
		q.seats = append(q.seats, s)
		q.ends = append(q.ends, make(chan error, 1))
	}
	return q
}

// request lets a member wait for the lock, and returns when it is in the queue.
func (q *queue) request(ctx context.Context, me int, mode Mode) {
	q.t.Helper()
	s := q.seats[me]
	go func() {
		err := s.Acquire(ctx, mode)
		if err == nil {
			q.got <- me
		}
		q.ends[me] <- err
	}()
	q.until("queueing", func() bool { return phaseOf(s.words.slots[me].Load()) == queued })
}

func (q *queue) until(what string, ready func() bool) {
	q.t.Helper()
	for end := time.Now().Add(deadline); !ready(); runtime.Gosched() {
		if time.Now().After(end) {
			q.t.Fatalf("%s takes too long", what)
		}
	}
}

// next is who is given the lock at once, n members.
func (q *queue) next(n int) (members []int) {
	q.t.Helper()
	for range n {
		select {
		case m := <-q.got:
			members = append(members, m)
		case <-time.After(deadline):
			q.t.Fatal("nobody is given the lock")
		}
	}
	slices.Sort(members)
	if len(q.got) > 0 {
		q.t.Fatalf("member %d is given the lock together with %v", <-q.got, members)
	}
	return members
}

func (q *queue) release(mode Mode, members ...int) {
	q.t.Helper()
	for _, m := range members {
		if err := q.seats[m].Release(mode); err != nil {
			q.t.Fatal(err)
		}
	}
}

func TestFirstComeFirstServed(t *testing.T) {
	q := newQueue(t, 8)
	modes := []Mode{Exclusive, Exclusive, Shared, Shared, Exclusive, Shared, Exclusive, Shared}
	if err := q.seats[0].Acquire(t.Context(), Exclusive); err != nil {
		t.Fatal(err)
	}
	order := []int{5, 3, 2, 6, 4, 7, 1}
	for _, m := range order {
		q.request(t.Context(), m, modes[m])
	}
	last := []int{0}
	for _, want := range [][]int{{2, 3, 5}, {6}, {4}, {7}, {1}} {
		q.release(modes[last[0]], last...)
		if last = q.next(len(want)); !slices.Equal(last, want) {
			t.Fatalf("members %v are given the lock, want %v", last, want)
		}
	}
	q.release(modes[1], 1)
	if !q.seats[0].Idle() {
		t.Errorf("state %#x at the end", q.seats[0].words.state.Load())
	}
}

// A writer at the head of the queue that gives up lets the readers behind it in.
func TestCancelledHeadHandsOver(t *testing.T) {
	q := newQueue(t, 4)
	if err := q.seats[0].Acquire(t.Context(), Shared); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	q.request(ctx, 1, Exclusive)
	q.request(t.Context(), 2, Shared)
	q.request(t.Context(), 3, Shared)
	cancel(errImpatient)
	if got := q.next(2); !slices.Equal(got, []int{2, 3}) {
		t.Errorf("%v are given the lock, want 2 and 3", got)
	}
	if err := <-q.ends[1]; !errors.Is(err, errImpatient) {
		t.Errorf("the cancelled member's error is %v", err)
	}
	q.release(Shared, 0, 2, 3)
	if !q.seats[0].Idle() {
		t.Errorf("state %#x at the end", q.seats[0].words.state.Load())
	}
}

func TestCancelledWaiterLeaves(t *testing.T) {
	q := newQueue(t, 2)
	if err := q.seats[0].Acquire(t.Context(), Exclusive); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	q.request(ctx, 1, Exclusive)
	cancel(errImpatient)
	if err := <-q.ends[1]; !errors.Is(err, errImpatient) {
		t.Errorf("the cancelled member's error is %v", err)
	}
	if slot := q.seats[1].words.slots[1].Load(); phaseOf(slot) != empty {
		t.Errorf("its slot is %#x", slot)
	}
	if !q.seats[0].ReleaseExclusive() {
		t.Error("the release finds somebody waiting")
	}
}

// Who waits learns of a member's death, whoever it is.
func TestWaiterLearnsOfFailure(t *testing.T) {
	q := newQueue(t, 3)
	if err := q.seats[0].Acquire(t.Context(), Exclusive); err != nil {
		t.Fatal(err)
	}
	q.request(t.Context(), 1, Shared)
	q.mem.Report(2, job.Failed, -9)
	var failed *job.RankFailedError
	if err := <-q.ends[1]; !errors.As(err, &failed) || failed.Rank != 2 {
		t.Errorf("error %v, want rank 2's failure", err)
	}
	q.release(Exclusive, 0)
}

// Who needs the latch learns of its holder's death, and of nobody else's.
func TestLatchHolderFailed(t *testing.T) {
	q := newQueue(t, 3)
	q.mem.Report(2, job.Failed, -9)
	if err := q.seats[0].Acquire(t.Context(), Exclusive); err != nil {
		t.Fatal(err)
	}
	q.seats[0].words.state.Or(contended) // as if somebody waited
	q.seats[0].words.latch.Store(latchedBy(1))
	q.mem.Report(1, job.Failed, -9)
	for _, err := range []error{q.seats[0].Release(Exclusive), q.seats[0].Acquire(t.Context(), Shared)} {
		var failed *job.RankFailedError
		if !errors.As(err, &failed) || failed.Rank != 1 {
			t.Errorf("error %v, want rank 1's failure", err)
		}
	}
}

func TestInitChecksItsMemory(t *testing.T) {
	mem := newMembers(t, 2, true)
	block := mem.Extra()[groupBytes(2):]
	var l Lock
	for _, bad := range [][]byte{block[:Size(2)-1], block[8:], nil} {
		if err := l.Init(bad, 0, 2, nil); err == nil || !strings.Contains(err.Error(), "want 384, aligned to 128") {
			t.Errorf("Init with %d bytes: %v", len(bad), err)
		}
	}
}

func TestPathsAllocateNothing(t *testing.T) {
	q := newQueue(t, 2)
	a, b := q.seats[0], q.seats[1]
	for _, mode := range []Mode{Shared, Exclusive} {
		if n := testing.AllocsPerRun(100, func() {
			if a.Acquire(t.Context(), mode) != nil || a.Release(mode) != nil {
				t.Error("failed")
			}
		}); n != 0 {
			t.Errorf("%v: the fast path allocates %v times", mode, n)
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		a.words.state.Or(contended) // as a request does that has not come further yet
		if b.Acquire(t.Context(), Exclusive) != nil || b.Release(Exclusive) != nil {
			t.Error("failed")
		}
	}); n != 0 {
		t.Errorf("the slow path allocates %v times", n)
	}
}

func BenchmarkExclusive(b *testing.B) {
	mem := newMembers(b, 2, true)
	s, err := newSeat(mem, 0)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if !s.TryExclusive() || !s.ReleaseExclusive() {
			b.Fatal("failed")
		}
	}
}

func BenchmarkShared(b *testing.B) {
	mem := newMembers(b, 2, true)
	s, err := newSeat(mem, 0)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if s.Acquire(b.Context(), Shared) != nil || s.Release(Shared) != nil {
			b.Fatal("failed")
		}
	}
}
