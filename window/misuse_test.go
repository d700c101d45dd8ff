package window_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/golaunch/golaunch/runtime/memlimit"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
	"github.com/golaunch/golaunch/window"
)

// Every wrong call is an error that says what is wrong, and changes nothing.
func TestWrongCalls(t *testing.T) {
	run(t, 2, func(r rank) {
		w := allocate[int32](r, 8, window.Name("halo"))
		if r.comm.Rank() == 1 {
			r.no(w.Free(r))
			return
		}
		four := make([]int32, 4)
		wrong := func(got error, want string) {
			r.Helper()
			if got == nil || got.Error() != `rank 0: window "halo": `+want {
				r.Errorf("the error is %v,\n want rank 0: window \"halo\": %s", got, want)
			}
		}
		const noEpoch = "no epoch is open: call Fence, Lock or LockAll first"
		wrong(w.Put(1, 0, four), "Put of 4 elements at displacement 0 of target 1: "+noEpoch)
		wrong(w.Get(1, 0, four), "Get of 4 elements at displacement 0 of target 1: "+noEpoch)
		wrong(w.Put(1, 0, nil), "Put of 0 elements at displacement 0 of target 1: "+noEpoch)
		wrong(w.Flush(0), "Flush of target 0: "+noEpoch)
		wrong(w.FlushAll(), "FlushAll: "+noEpoch)
		wrong(w.Unlock(1), "Unlock of target 1: this rank does not hold its lock")
		wrong(w.UnlockAll(), "UnlockAll: no epoch of LockAll is open")
		wrong(w.Lock(r, 1, 0), "Lock (no lock mode) of target 1: the mode must be Shared or Exclusive")
		wrong(w.Lock(r, 1, 7), "Lock (no lock mode) of target 1: the mode must be Shared or Exclusive")

		for _, lock := range []struct {
			mode window.LockMode
			name string
		}{{window.Shared, "shared"}, {window.Exclusive, "exclusive"}} {
			r.no(w.Lock(r, 1, lock.mode))
			wrong(w.Lock(r, 1, window.Exclusive), "Lock (exclusive) of target 1: this rank already holds it ("+lock.name+")")
			wrong(w.LockAll(r), "LockAll: this rank holds the locks of 1 targets: unlock them first")
			wrong(w.Put(0, 0, four), "Put of 4 elements at displacement 0 of target 0: "+noEpoch)
			r.no(w.Unlock(1))
		}
		r.no(w.LockAll(r))
		wrong(w.LockAll(r), "LockAll: an epoch of LockAll is open already")
		wrong(w.Lock(r, 1, window.Shared), "Lock (shared) of target 1: an epoch of LockAll is open: call UnlockAll first")
		wrong(w.Unlock(1), "Unlock of target 1: its lock is held by LockAll: call UnlockAll")

		const noRank = ": there is no such rank: the communicator's are 0 to 1"
		const tooFar = ": exceeds its part, of 8 elements"
		wrong(w.Put(2, 0, four), "Put of 4 elements at displacement 0 of target 2"+noRank)
		wrong(w.Get(-1, 0, four), "Get of 4 elements at displacement 0 of target -1"+noRank)
		wrong(w.Put(1, 5, four), "Put of 4 elements at displacement 5 of target 1"+tooFar)
		wrong(w.Put(1, -1, four[:1]), "Put of 1 element at displacement -1 of target 1"+tooFar)
		wrong(w.Get(1, 1<<62, four), "Get of 4 elements at displacement 4611686018427387904 of target 1"+tooFar)
		wrong(w.Get(1, -1<<63, four), "Get of 4 elements at displacement -9223372036854775808 of target 1"+tooFar)
		wrong(w.Accumulate(1, 6, four, window.Sum), "Accumulate of 4 elements at displacement 6 of target 1"+tooFar)
		wrong(w.Accumulate(9, 0, four, window.Sum), "Accumulate of 4 elements at displacement 0 of target 9"+noRank)
		wrong(w.Accumulate(1, 0, four, 0), "Accumulate to target 1: Op(0) is no operation")
		wrong(errorOf(w.FetchAdd(1, 8, 1)), "FetchAdd of 1 element at displacement 8 of target 1"+tooFar)
		wrong(errorOf(w.FetchAdd(1, -1, 1)), "FetchAdd of 1 element at displacement -1 of target 1"+tooFar)
		wrong(errorOf(w.FetchAdd(3, 0, 1)), "FetchAdd of 1 element at displacement 0 of target 3"+noRank)
		wrong(errorOf(w.FetchAndOp(1, 8, 1, window.Max)), "FetchAndOp of 1 element at displacement 8 of target 1"+tooFar)
		wrong(errorOf(w.FetchAndOp(1, 0, 1, 88)), "FetchAndOp at target 1: Op(88) is no operation")
		wrong(errorOf(w.CompareAndSwap(0, 8, 1, 1)), "CompareAndSwap of 1 element at displacement 8 of target 0"+tooFar)
		wrong(w.Flush(2), "Flush of target 2"+noRank)
		wrong(w.Lock(r, -1, window.Shared), "Lock (shared) of target -1"+noRank)
		wrong(w.Unlock(2), "Unlock of target 2"+noRank)

		got := make([]int32, 8)
		r.no(w.Get(1, 0, got))
		for i, v := range got {
			if v != 0 {
				r.Errorf("element %d has become %d", i, v)
			}
		}
		r.no(w.UnlockAll())
		r.no(w.Free(r))
		wrong(w.Put(1, 0, four), "Put of 4 elements at displacement 0 of target 1: the window was freed")
		wrong(w.Flush(1), "Flush of target 1: the window was freed")
		wrong(w.FlushAll(), "FlushAll: the window was freed")
		wrong(w.Fence(r), "Fence: the window was freed")
		wrong(w.Lock(r, 1, window.Shared), "Lock (shared) of target 1: the window was freed")
		wrong(w.LockAll(r), "LockAll: the window was freed")
		wrong(w.Unlock(1), "Unlock of target 1: the window was freed")
		wrong(w.UnlockAll(), "UnlockAll: the window was freed")
		wrong(w.Free(r), "Free: the window was freed")
	})
}

func errorOf[T any](_ T, err error) error { return err }

type gapped struct {
	A int8
	B int64
}

// What is wrong with an operation for the element type is found before anything is
// touched.
func TestWrongOperations(t *testing.T) {
	run(t, 1, func(r rank) {
		f, c, g := allocate[float64](r, 1), allocate[complex128](r, 1), allocate[gapped](r, 1)
		r.no(f.Fence(r))
		r.no(c.Fence(r))
		r.no(g.Fence(r))
		for _, x := range []struct {
			got  error
			want string
		}{
			{f.Accumulate(0, 0, []float64{1}, window.And), "window of float64: Accumulate to target 0: And is not defined for elements of type float64"},
			{errorOf(c.FetchAndOp(0, 0, 1, window.Max)), "window of complex128: FetchAndOp at target 0: Max is not defined for elements of type complex128"},
			{errorOf(g.FetchAdd(0, 0, gapped{})), "window of window_test.gapped: FetchAdd at target 0: Sum is not defined for elements of type window_test.gapped"},
			{errorOf(g.CompareAndSwap(0, 0, gapped{}, gapped{})), "window of window_test.gapped: at target 0: CompareAndSwap is not defined for elements of type window_test.gapped, which has bytes without a meaning before or in field B"},
		} {
			if x.got == nil || x.got.Error() != "rank 0: "+x.want {
				r.Errorf("the error is %v,\n want rank 0: %s", x.got, x.want)
			}
		}
		r.no(f.Free(r))
		r.no(c.Free(r))
		r.no(g.Free(r))
	})
}

// When one rank's Allocate is wrong, every rank's fails, and says which; the communicator
// stays whole.
func TestAllocateRefused(t *testing.T) {
	call := func(r rank) error { return errorOf(window.Allocate[int64](r, r.comm, 4, window.Name("halo"))) }
	for _, c := range []struct {
		name  string
		wrong func(r rank) error // rank 1's call
		want  string             // what every rank's error ends with
	}{
		{"negative", func(r rank) error { return errorOf(window.Allocate[int64](r, r.comm, -3)) }, "rank 1: -3 elements"},
		{"too many", func(r rank) error { return errorOf(window.Allocate[int64](r, r.comm, 1<<60)) }, "rank 1: 1152921504606846976 elements of 8 bytes do not fit into an address space"},
		{"pointers", func(r rank) error { return errorOf(window.Allocate[[]int](r, r.comm, 4)) }, "rank 1: element type []int: it holds a Go pointer"},
		{"another type", func(r rank) error { return errorOf(window.Allocate[float64](r, r.comm, 4)) }, "rank 1: its elements are of type float64 (8 bytes), those of rank 0 of type int64 (8 bytes)"},
		{"another size", func(r rank) error { return errorOf(window.Allocate[[3]int32](r, r.comm, 4)) }, "rank 1: its elements are of type [3]int32 (12 bytes), those of rank 0 of type int64 (8 bytes)"},
	} {
		run(t, 3, func(r rank) {
			before := r.comm.Arena().Usage().InUse
			err := call
			if r.comm.Rank() == 1 {
				err = c.wrong
			}
			got := err(r)
			if got == nil || !strings.HasSuffix(got.Error(), ": "+c.want) {
				r.Errorf("%s: rank %d's error is %v,\n want one that ends with %s", c.name, r.comm.Rank(), got, c.want)
			}
			if in := r.comm.Arena().Usage().InUse; in != before {
				r.Errorf("%s: rank %d keeps %d bytes", c.name, r.comm.Rank(), in-before)
			}
			w := allocate[int64](r, 1)
			r.no(w.Free(r))
		})
	}
}

// A window that the host has no memory for is an error everywhere, in no time.
func TestTooLarge(t *testing.T) {
	run(t, 2, func(r rank) {
		_, err := window.Allocate[byte](r, r.comm, 1<<40, window.Name("huge"))
		if err == nil {
			r.Errorf("a window of 1 TiB on each rank is allocated")
			return
		}
		if !strings.HasPrefix(err.Error(), `rank `) || !strings.Contains(err.Error(), `window "huge": Allocate of 1099511627776 elements on communicator "world`) || !strings.Contains(err.Error(), "available") {
			r.Errorf("the error is %v", err)
		}
		if in := r.comm.Arena().Usage().InUse; in > 1<<20 {
			r.Errorf("%d bytes stay allocated", in)
		}
		w := allocate[int64](r, 1)
		r.no(w.Free(r))
	})
}

// A rank that still holds a lock keeps the window from being freed, at every rank.
func TestFreeRefused(t *testing.T) {
	run(t, 3, func(r rank) {
		w := allocate[int64](r, 1, window.Name("halo"))
		if r.comm.Rank() == 2 {
			r.no(w.Lock(r, 0, window.Exclusive))
		}
		err := w.Free(r)
		if err == nil || !strings.HasSuffix(err.Error(), `window "halo": Free: rank 2: it holds the locks of 1 targets`) {
			r.Errorf("rank %d's error is %v", r.comm.Rank(), err)
		}
		if r.comm.Rank() == 2 {
			r.no(w.Unlock(0))
		}
		r.no(w.Free(r))
	})
}

// A Fence of a rank that holds a lock cannot be carried out; nobody waits for it.
func TestFenceWithLocksHeld(t *testing.T) {
	run(t, 3, func(r rank) {
		w := allocate[int64](r, 1, window.Name("halo"))
		if r.comm.Rank() == 2 {
			r.no(w.LockAll(r))
		}
		err := w.Fence(r)
		var broken *world.BrokenError
		switch {
		case r.comm.Rank() == 2:
			if err == nil || !strings.HasSuffix(err.Error(), "Fence: an epoch of LockAll is open: call UnlockAll first") {
				r.Errorf("rank 2's error is %v", err)
			}
		case !errors.As(err, &broken) || broken.Rank != 2 || broken.Op != "Fence" || broken.What != `window "halo"`:
			r.Errorf("rank %d's error is %v", r.comm.Rank(), err)
		}
		if err := w.Lock(r, 0, window.Exclusive); !errors.As(err, &broken) {
			r.Errorf("rank %d's next Lock gives %v", r.comm.Rank(), err)
		}
	})
}

// Each rank's part fits, all together do not: every rank learns it before any has
// filled memory.
func TestSumOfThePartsIsCompared(t *testing.T) {
	worldtest.Alone(t) // ranks on other machines have other memory
	limit, err := memlimit.Available()
	if err != nil {
		t.Fatal(err)
	}
	part := int(limit.Available/4*3) / 8
	run(t, 2, func(r rank) {
		before := r.comm.Arena().Usage().Populated
		w, err := window.Allocate[uint64](r, r.comm, part)
		if err == nil || w != nil || !strings.Contains(err.Error(), "the parts of all ranks together") {
			r.Errorf("Allocate of more than there is: %v", err)
		}
		if after := r.comm.Arena().Usage().Populated; after > before+1<<20 {
			r.Errorf("%d bytes were filled in vain", after-before)
		}
		allocate[uint64](r, 8) // the communicator is whole
	})
}
