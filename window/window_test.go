package window_test

import (
	"slices"
	"testing"

	"github.com/golaunch/golaunch/window"
)

// Everybody puts into its right neighbour and reads its left one's part, in windows whose
// parts differ in size, at every number of ranks.
func TestPutGetFence(t *testing.T) {
	for n := range 5 {
		run(t, n+1, func(r rank) {
			me, size := r.comm.Rank(), r.comm.Size()
			w := allocate[int32](r, 10+me)
			right := (me + 1) % size
			if got := w.Size(right); got != 10+right || len(w.Local()) != 10+me || w.Size(-1) != 0 || w.Size(size) != 0 {
				r.Errorf("rank %d: rank %d's part has %d elements, this one's %d", me, right, got, len(w.Local()))
			}
			r.no(w.Fence(r))
			r.no(w.Put(right, 3, []int32{int32(me), -1, 7}))
			r.no(w.Put(right, w.Size(right)-1, []int32{99}))
			r.no(w.Fence(r))
			left := (me + size - 1) % size
			want := make([]int32, 10+me)
			copy(want[3:], []int32{int32(left), -1, 7})
			want[9+me] = 99
			if !slices.Equal(w.Local(), want) {
				r.Errorf("rank %d has %v, want %v", me, w.Local(), want)
			}
			got := make([]int32, 4)
			r.no(w.Get(right, 2, got))
			if !slices.Equal(got, []int32{0, int32(me), -1, 7}) {
				r.Errorf("rank %d gets %v of its right neighbour", me, got)
			}
			r.no(w.Fence(r))
			r.no(w.Free(r))
		})
	}
}

// Copies of every length around those at which their way changes, at every target.
func TestTransferLengths(t *testing.T) {
	const large = 1 << 20
	run(t, 2, func(r rank) {
		w := allocate[byte](r, 3*large)
		r.no(w.Fence(r))
		if r.comm.Rank() == 0 {
			for target := range 2 {
				for _, n := range []int{0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 4095, large - 1, large, large + 1, 2*large + 13} {
					src := make([]byte, n)
					for i := range src {
						src[i] = byte(i*7 + n + target)
					}
					dst := make([]byte, n)
					r.no(w.Put(target, 5, src))
					r.no(w.Get(target, 5, dst))
					if !slices.Equal(src, dst) {
						r.Errorf("%d bytes to rank %d come back changed", n, target)
					}
				}
			}
		}
		r.no(w.Fence(r))
		r.no(w.Free(r))
	})
}

// A rank may move elements within its own part, however they overlap.
func TestOverlapAtSelf(t *testing.T) {
	run(t, 1, func(r rank) {
		const n = 1 << 21
		w := allocate[byte](r, n+8)
		for i := range w.Local() {
			w.Local()[i] = byte(i * 5)
		}
		want := slices.Clone(w.Local())
		r.no(w.LockAll(r))
		r.no(w.Put(0, 8, w.Local()[:n]))
		copy(want[8:], want[:n])
		if !slices.Equal(w.Local(), want) {
			r.Errorf("a Put of a rank's own elements to itself changes them")
		}
		r.no(w.UnlockAll())
		r.no(w.Free(r))
	})
}

func TestEmptyParts(t *testing.T) {
	run(t, 3, func(r rank) {
		n := 0
		if r.comm.Rank() == 1 {
			n = 2
		}
		w := allocate[float64](r, n)
		r.no(w.Fence(r))
		r.no(w.Put(0, 0, nil))
		r.no(w.Accumulate(2, 0, nil, window.Sum))
		r.no(w.Get(1, 2, nil))
		if err := w.Put(0, 0, []float64{1}); err == nil {
			r.Errorf("a Put into a part of no elements succeeds")
		}
		r.no(w.Fence(r))
		r.no(w.Free(r))
	})
}

// A rank may store in its own part by assignment, and its epochs order that as they
// order Puts.
func TestLocalIsTheSameMemory(t *testing.T) {
	run(t, 2, func(r rank) {
		w := allocate[uint16](r, 4)
		me := r.comm.Rank()
		w.Local()[1] = uint16(10 + me)
		r.no(w.Fence(r))
		got := make([]uint16, 1)
		r.no(w.Get(1-me, 1, got))
		if got[0] != uint16(11-me) {
			r.Errorf("rank %d gets %d", me, got[0])
		}
		r.no(w.Fence(r))
		r.no(w.Free(r))
	})
}

// A program may use any number of windows of any types side by side, and with Fence and
// locks in turn.
func TestSeveralWindows(t *testing.T) {
	run(t, 2, func(r rank) {
		a, b := allocate[int64](r, 1, window.Name("a")), allocate[[3]byte](r, 5)
		other := 1 - r.comm.Rank()
		r.no(a.Fence(r))
		r.no(b.Lock(r, other, window.Exclusive))
		r.no(a.Put(other, 0, []int64{42}))
		r.no(b.Put(other, 4, [][3]byte{{1, 2, 3}}))
		r.no(b.Unlock(other))
		r.no(a.Fence(r))
		r.no(b.Fence(r))
		if a.Local()[0] != 42 || b.Local()[4] != [3]byte{1, 2, 3} {
			r.Errorf("rank %d has %v and %v", r.comm.Rank(), a.Local(), b.Local())
		}
		r.no(a.Lock(r, other, window.Shared)) // ends the epoch of Fence
		if err := a.Put(r.comm.Rank(), 0, []int64{1}); err == nil {
			r.Errorf("a Put to a target that is not locked succeeds")
		}
		r.no(a.Unlock(other))
		r.no(b.Free(r))
		r.no(a.Free(r))
	})
}

// Windows over the communicators that Split makes number their targets as those do.
func TestSplitCommunicator(t *testing.T) {
	run(t, 4, func(r rank) {
		me := r.comm.Rank()
		sub, err := r.comm.Split(r, me%2, -me) // ranks 2 0 and 3 1
		r.no(err)
		inner := r
		inner.comm = sub
		w := allocate[int](inner, 1)
		r.no(w.Fence(r))
		r.no(w.Put(1-sub.Rank(), 0, []int{me}))
		r.no(w.Fence(r))
		if want := (me + 2) % 4; w.Local()[0] != want {
			r.Errorf("rank %d has %d, want %d", me, w.Local()[0], want)
		}
		r.no(w.Free(r))
		r.no(sub.Free(r))
	})
}

// Everything that Allocate takes is given back by Free, also when a rank refuses.
func TestNothingStaysBehind(t *testing.T) {
	run(t, 3, func(r rank) {
		cycle := func() {
			w := allocate[float64](r, 100000)
			r.no(w.Fence(r))
			r.no(w.Free(r))
			n := 5
			if r.comm.Rank() == 1 {
				n = -1
			}
			if _, err := window.Allocate[complex128](r, r.comm, n); err == nil {
				r.Errorf("Allocate of a negative number succeeds")
			}
		}
		cycle()
		before := r.comm.Arena().Usage()
		for range 50 {
			cycle()
		}
		after := r.comm.Arena().Usage()
		if after.InUse != before.InUse || after.Segments != before.Segments || after.Populated != before.Populated {
			r.Errorf("rank %d: 50 cycles change the arena's usage from %+v to %+v", r.comm.Rank(), before, after)
		}
	})
}

// Steady state allocates nothing. The other rank takes part without allocating either:
// the count is of the whole process.
func TestAllocations(t *testing.T) {
	const runs = 100
	runOn(t, 1, 2, func(r rank) {
		ctx := r.Context // converting r would allocate
		w := allocate[float64](r, 1000)
		c := allocate[complex128](r, 200)
		buf, wide := make([]float64, 1000), make([]complex128, 200)
		check := func(name string, f func()) {
			if n := testing.AllocsPerRun(runs, f); n != 0 {
				r.Errorf("%s allocates %v times", name, n)
			}
		}
		r.no(w.Fence(ctx))
		r.no(c.Fence(r))
		if r.comm.Rank() == 0 {
			check("Put and Get", func() {
				r.no(w.Put(1, 0, buf))
				r.no(w.Get(1, 0, buf[:1]))
				r.no(w.Put(1, 0, []float64{1, 2, 3})) // stays on the stack
				var few [3]float64
				r.no(w.Get(1, 0, few[:]))
				r.no(w.Accumulate(1, 0, []float64{1, 2, 3}, window.Sum))
				r.no(w.Flush(1))
				r.no(w.FlushAll())
			})
			check("Accumulate and the like", func() {
				r.no(w.Accumulate(1, 0, buf, window.Sum))
				must[float64](r)(w.FetchAdd(1, 0, 1))
				must[float64](r)(w.CompareAndSwap(1, 0, 1, 2))
				r.no(c.Accumulate(1, 0, wide, window.Prod))
				must[complex128](r)(c.FetchAndOp(1, 0, 1, window.Sum))
				must[complex128](r)(c.CompareAndSwap(1, 0, 1, 2))
			})
			r.no(w.Lock(r, 0, window.Exclusive)) // over to locks
			r.no(w.Unlock(0))
			check("Lock and Unlock", func() {
				r.no(w.Lock(ctx, 1, window.Exclusive))
				r.no(w.Unlock(1))
				r.no(w.Lock(ctx, 1, window.Shared))
				r.no(w.Unlock(1))
				r.no(w.LockAll(ctx))
				r.no(w.UnlockAll())
			})
			check("Fence", func() { r.no(w.Fence(ctx)) })
		} else {
			for range runs + 1 {
				r.no(w.Fence(ctx))
			}
		}
		r.no(w.Free(r))
		r.no(c.Free(r))
	})
}
