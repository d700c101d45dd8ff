package window_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/golaunch/golaunch/window"
)

// Every rank, the owner and those of its host as well, changes the same elements by all
// atomic operations that the window has: none is lost. On several hosts that have
// devices some may be, were the ranks of one host to use another mechanism than
// those of the other.
func TestOneMechanism(t *testing.T) {
	notCoherent(t)
	for _, how := range []struct { // in order: the ranks of a job must run the same tests
		name string
		opts []window.Option
	}{{"CPU", nil}, {"NIC", []window.Option{window.NICAtomics}}} {
		t.Run(how.name, func(t *testing.T) {
			run(t, 4, func(r rank) { countTogether(r, how.opts) })
		})
	}
}

// notCoherent skips a test of NICAtomics, which Allocate refuses with Coherent.
func notCoherent(t *testing.T) {
	t.Helper()
	if coherent() {
		t.Skip("a device knows nothing of caches")
	}
}

// The elements of rank 0: how many ranks have done their part, two that are counted
// up, how often, and one that shows the order of what one rank does.
const (
	partsDone = iota
	added
	swapped
	additions
	ordered
	countedElements
)

func countTogether(r rank, opts []window.Option) {
	const times = 100
	w := allocate[int64](r, countedElements, opts...)
	r.no(w.LockAll(r))
	n, last := 0, int64(-1)
	add := func() {
		old := must[int64](r)(w.FetchAdd(0, added, 1))
		if old <= last {
			r.Errorf("rank %d: FetchAdd gives %d after %d", r.comm.Rank(), old, last)
		}
		n, last = n+1, old
	}
	for i := range times {
		add()
		swap(r, w)
		if r.comm.Rank() == r.comm.Size()-1 && i%16 == 0 {
			order(r, w, int64(i)<<32)
		}
	}
	must[int64](r)(w.FetchAdd(0, partsDone, 1))
	// Those who are quick get in between what the others do, as often as they can.
	for all := int64(r.comm.Size()); must[int64](r)(w.FetchAdd(0, partsDone, 0)) < all; {
		r.no(context.Cause(r)) // the word is lost that a rank is done
		for range 50 {
			add()
		}
	}
	must[int64](r)(w.FetchAdd(0, additions, int64(n)))
	r.no(w.UnlockAll())
	meet(r)
	if r.comm.Rank() == 0 {
		if l := w.Local(); l[added] != l[additions] || l[swapped] != int64(times*r.comm.Size()) {
			r.Errorf("%d for %d additions, %d for %d swaps", l[added], l[additions], l[swapped], times*r.comm.Size())
		}
	}
	r.no(w.Free(r))
}

// swap counts one up by CompareAndSwap.
func swap(r rank, w *window.Window[int64]) {
	for expect := must[int64](r)(w.FetchAndOp(0, swapped, 0, window.NoOp)); ; {
		old := must[int64](r)(w.CompareAndSwap(0, swapped, expect, expect+1))
		if old == expect {
			return
		}
		expect = old
	}
}

// order puts, adds and gets, which take effect in that order.
func order(r rank, w *window.Window[int64], v int64) {
	r.no(w.Put(0, ordered, []int64{v}))
	if old := must[int64](r)(w.FetchAdd(0, ordered, 5)); old != v {
		r.Errorf("FetchAdd behind a Put of %d finds %d", v, old)
	}
	got := []int64{0}
	r.no(w.Get(0, ordered, got))
	if got[0] != v+5 {
		r.Errorf("Get behind FetchAdd finds %d, want %d", got[0], v+5)
	}
}

// With NICAtomics the rest is refused, whatever the ranks are connected by.
func TestNICAtomicsIsADeclaration(t *testing.T) {
	notCoherent(t)
	run(t, 2, func(r rank) {
		w, f := allocate[int64](r, 2, window.NICAtomics), allocate[float64](r, 2, window.NICAtomics)
		r.no(w.Fence(r))
		r.no(f.Fence(r))
		for what, err := range map[string]error{
			"Accumulate":     w.Accumulate(0, 0, []int64{1}, window.Sum),
			"Max":            errorOf(w.FetchAndOp(0, 0, 1, window.Max)),
			"FetchAdd float": errorOf(f.FetchAdd(0, 0, 1)),
		} {
			if err == nil || !strings.Contains(err.Error(), "NICAtomics") {
				r.Errorf("%s gives %v", what, err)
			}
		}
		if old := must[float64](r)(f.CompareAndSwap(0, r.comm.Rank(), 0, 1.5)); old != 0 {
			r.Errorf("CompareAndSwap finds %v", old)
		}
		for what, err := range map[string]error{
			"displacement 2": errorOf(w.FetchAdd(0, 2, 1)),
			"target 2":       errorOf(w.FetchAdd(2, 0, 1)),
			"target -1":      errorOf(w.CompareAndSwap(-1, 0, 1, 2)),
		} {
			if err == nil || !strings.Contains(err.Error(), what) {
				r.Errorf("%s gives %v", what, err)
			}
		}
		r.no(f.Fence(r))
		if got := f.Local()[0]; r.comm.Rank() == 0 && got != 1.5 {
			r.Errorf("the element is %v", got)
		}
		r.no(w.Free(r))
		r.no(f.Free(r))
		if err := errorOf(w.FetchAdd(0, 0, 1)); err == nil {
			r.Errorf("a freed window counts")
		}
	})
}

// What TestOneMechanism shows is due to the one mechanism: were the owner to count with
// its CPU what others count with the device, some of it would be lost.
func TestMixedAtomicsLoseUpdates(t *testing.T) {
	notCoherent(t)
	var m mixture
	runOn(t, 2, 1, m.count)
	if !m.mixed.Load() {
		t.Skip("there is no device; make verbs-test has one")
	}
	t.Logf("of %d additions by the CPU and %d by the device %d are lost", m.byCPU, m.byDevice.Load(), m.lost.Load())
	if m.lost.Load() == 0 {
		t.Error("nothing is lost: these could be mixed")
	}
}

// A mixture of mechanisms counts on one element of rank 0: its CPU, for as long as rank 1,
// on another host, does by rank 0's device.
type mixture struct {
	mixed        atomic.Bool
	byCPU        int64
	byDevice     atomic.Int64
	rounds, lost atomic.Int64 // done by rank 1; found by rank 0
}

// count goes on until something is lost, but not for ever.
func (m *mixture) count(r rank) {
	w := allocate[int64](r, 1, window.NICAtomics)
	if r.comm.Rank() == 0 {
		m.mixed.Store(w.ForgoNIC())
	}
	r.no(w.LockAll(r))
	meet(r)
	for round := int64(0); m.mixed.Load() && round < 100 && m.lost.Load() == 0; round++ {
		if r.comm.Rank() == 1 {
			for range 1000 {
				must[int64](r)(w.FetchAdd(0, 0, 1))
				m.byDevice.Add(1)
			}
			m.rounds.Add(1)
		} else {
			for ; m.rounds.Load() == round; m.byCPU++ {
				must[int64](r)(w.FetchAdd(0, 0, 1))
			}
		}
		meet(r)
		if r.comm.Rank() == 0 {
			m.lost.Store(m.byCPU + m.byDevice.Load() - w.Local()[0])
		}
		meet(r)
	}
	r.no(w.UnlockAll())
	r.no(w.Free(r))
}

// All ranks declare it, or none.
func TestNICAtomicsIsAgreedOn(t *testing.T) {
	notCoherent(t)
	run(t, 2, func(r rank) {
		var opts []window.Option
		if r.comm.Rank() == 1 {
			opts = append(opts, window.NICAtomics)
		}
		if _, err := window.Allocate[int64](r, r.comm, 1, opts...); err == nil || !strings.Contains(err.Error(), "do not agree on NICAtomics") {
			r.Errorf("rank %d: %v", r.comm.Rank(), err)
		}
		if _, err := window.Allocate[int32](context.Background(), r.comm, 1, window.NICAtomics); err == nil || !strings.Contains(err.Error(), "4 bytes") {
			r.Errorf("rank %d: %v", r.comm.Rank(), err)
		}
	})
}
