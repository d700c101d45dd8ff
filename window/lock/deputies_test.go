package lock

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/golaunch/golaunch/runtime/job"
)

// newDeputies is a queue of n members in which those that are away have deputies at
// member 0: only its bell rings for them.
func newDeputies(t *testing.T, n int, away ...int) *queue {
	t.Helper()
	q := newQueue(t, n)
	isAway := make([]bool, n)
	for _, m := range away {
		isAway[m] = true
	}
	for m, s := range q.seats {
		own := s
		if isAway[m] {
			own = q.seats[0]
		}
		block := q.mem.Extra()[groupBytes(n):]
		if err := s.Init(block, m, n, &Deputies{Peers: own.group, Home: 0, Away: isAway}); err != nil {
			t.Fatal(err)
		}
	}
	return q
}

// Members and deputies exclude each other, and nobody is left waiting.
func TestDeputiesExclude(t *testing.T) {
	q := newDeputies(t, 4, 1, 3)
	var wait sync.WaitGroup
	for _, s := range q.seats {
		wait.Go(func() {
			if err := countBody(t.Context(), s); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	checkCounts(t, q.mem)
}

// A deputy stops waiting when the member for which it waits has failed, and leaves the
// queue, so that others are served.
func TestDeputyOfTheDead(t *testing.T) {
	q := newDeputies(t, 3, 1)
	if err := q.seats[0].Acquire(t.Context(), Exclusive); err != nil {
		t.Fatal(err)
	}
	q.request(t.Context(), 1, Exclusive)
	q.mem.Report(1, job.Failed, -9)
	var failed *job.RankFailedError
	if err := <-q.ends[1]; !errors.As(err, &failed) || failed.Rank != 1 {
		t.Errorf("the deputy's wait ends with %v", err)
	}
	if err := q.seats[0].Release(Exclusive); err != nil {
		t.Error(err)
	}
	if !q.seats[2].TryAcquire(Exclusive) {
		t.Error("the lock is not free")
	}
}

// A deputy that waits for a latch which its own dead member holds is not left there.
func TestLatchOfDeputysDeadMember(t *testing.T) {
	q := newDeputies(t, 2, 1)
	latches := newLatches(t, q)
	if !latches[1].TryEnter(3) || latches[1].TryEnter(3) || latches[0].TryEnter(3) {
		t.Fatal("TryEnter")
	}
	q.mem.Report(1, job.Failed, -9)
	var failed *job.RankFailedError
	if err := latches[1].Enter(3); !errors.As(err, &failed) || failed.Rank != 1 {
		t.Errorf("error %v, want rank 1's failure", err)
	}
}

func TestTryRelease(t *testing.T) {
	q := newQueue(t, 3)
	for _, mode := range []Mode{Shared, Exclusive} {
		s := q.seats[0]
		if !s.TryAcquire(mode) || !s.TryRelease(mode) || !s.Idle() {
			t.Errorf("%v: acquiring and releasing a free lock fails", mode)
		}
		if !s.TryAcquire(mode) {
			t.Fatal("it is not free")
		}
		q.request(t.Context(), 1, Exclusive)
		if s.TryRelease(mode) {
			t.Errorf("%v: released without handing over", mode)
		}
		if err := s.Release(mode); err != nil {
			t.Error(err)
		}
		if got := q.next(1); !slices.Equal(got, []int{1}) {
			t.Errorf("%v was given the lock", got)
		}
		if err := errors.Join(<-q.ends[1], q.seats[1].Release(Exclusive)); err != nil {
			t.Error(err)
		}
	}
}

func TestLockElsewhere(t *testing.T) {
	var l Lock
	l.InitElsewhere()
	if l.TryAcquire(Shared) || l.TryExclusive() || l.TryRelease(Shared) || l.ReleaseExclusive() {
		t.Error("a lock that is not here was acquired or released")
	}
}

type rings struct {
	Peers
	rang []int
}

func (r *rings) Ring(member int) { r.rang = append(r.rang, member) }

func TestDeputiesAreRungAtHome(t *testing.T) {
	r := &rings{}
	d := &Deputies{Peers: r, Home: 2, Away: []bool{false, true, false, true}}
	for m := range 4 {
		d.Ring(m)
	}
	if want := []int{0, 2, 2, 2}; !slices.Equal(r.rang, want) {
		t.Errorf("rang %v, want %v", r.rang, want)
	}
}
