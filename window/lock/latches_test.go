package lock

import (
	"errors"
	"sync"
	"testing"

	"github.com/golaunch/golaunch/runtime/job"
)

func newLatches(t *testing.T, q *queue) (all []Latches) {
	t.Helper()
	n := q.mem.Size()
	block := q.mem.Extra()[groupBytes(n)+Size(n)+testWords*8:]
	for me, s := range q.seats {
		l, err := InitLatches(block, me, n, s.group)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	return all
}

// Several goroutines of several members exclude each other at each latch.
func TestLatchesExclude(t *testing.T) {
	q := newQueue(t, 3)
	latches := newLatches(t, q)
	counts := [2]*uint64{testWord(q.mem, 0), testWord(q.mem, 8)}
	const goroutines, times = 3, 3000
	var wait sync.WaitGroup
	for m := range latches {
		for g := range goroutines {
			wait.Go(func() {
				which := g % 2
				for range times {
					if err := latches[m].Enter(which); err != nil {
						t.Error(err)
						return
					}
					*counts[which]++
					latches[m].Leave(which)
				}
			})
		}
	}
	wait.Wait()
	if *counts[0] != 2*3*times || *counts[1] != 3*times {
		t.Errorf("counted to %d and %d, want %d and %d", *counts[0], *counts[1], 2*3*times, 3*times)
	}
}

func TestLatchOfTheDead(t *testing.T) {
	q := newQueue(t, 2)
	latches := newLatches(t, q)
	if err := latches[1].Enter(5); err != nil {
		t.Fatal(err)
	}
	q.mem.Report(1, job.Failed, -9)
	var failed *job.RankFailedError
	if err := latches[0].Enter(5); !errors.As(err, &failed) || failed.Rank != 1 {
		t.Errorf("error %v, want rank 1's failure", err)
	}
	if err := latches[0].Enter(6); err != nil {
		t.Errorf("another latch: %v", err)
	}
}
