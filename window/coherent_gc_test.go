package window_test

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/golaunch/golaunch/window"
)

// What hung when ranks pinned pages: a goroutine that holds one waits for another, and a
// stop of the world waits for it. Nothing here may pin.

// collecting has the garbage collector run until the returned function is called.
func collecting() (stop func()) {
	var over atomic.Bool
	var done sync.WaitGroup
	done.Go(func() {
		var keep [64][]byte
		for i := 0; !over.Load(); i++ {
			keep[i%len(keep)] = make([]byte, 64<<10)
			if i%16 == 0 {
				runtime.GC()
			}
		}
	})
	return func() {
		over.Store(true)
		done.Wait()
	}
}

const crossings = 1500

// Two hosts Put to each other from slices that are themselves pages of the window, which
// the other one writes at the same time.
func TestPutFromMappedViewCrossing(t *testing.T) {
	runOn(t, 2, 1, func(r rank) {
		defer collecting()()
		const n = 4096 // eight pages
		w := allocate[uint64](r, n, window.Coherent)
		all := must[[]uint64](r)(w.Map())
		me, other := r.comm.Rank(), 1-r.comm.Rank()
		r.no(w.Fence(r))
		src := all[other*w.Stride()+n/2:][:n/2] // the other's part, written by it
		for i := range crossings {
			r.no(w.Put(me, 0, src))
			atomic.AddUint64(&all[me*w.Stride()+n/2+i%512], 1)
		}
		r.no(w.Fence(r))
		got := make([]uint64, 512)
		r.no(w.Get(me, n/2, got))
		if sum := total(got); sum != crossings {
			r.Errorf("rank %d: %d of %d additions are left", me, sum, crossings)
		}
		r.no(w.Free(r))
	})
}

// Accumulates over several pages while other goroutines of the same rank fault on them.
func TestAccumulateWhileOthersFault(t *testing.T) {
	runOn(t, 2, 1, func(r rank) {
		defer collecting()()
		const n = 2048 // four pages
		w := allocate[uint64](r, n, window.Coherent)
		all := must[[]uint64](r)(w.Map())
		r.no(w.Fence(r))
		var over atomic.Bool
		var faulting sync.WaitGroup
		for page := range 4 {
			faulting.Go(func() {
				for !over.Load() {
					atomic.AddUint64(&all[page*512+511], 0)
					atomic.LoadUint64(&all[w.Stride()+page*512])
					runtime.Gosched()
				}
			})
		}
		ones := slices.Repeat([]uint64{1}, n)
		for range crossings / 3 {
			r.no(w.Accumulate(0, 0, ones, window.Sum))
		}
		over.Store(true)
		faulting.Wait()
		r.no(w.Fence(r))
		for i, v := range all[:n] {
			if v != uint64(2*(crossings/3)) {
				r.Errorf("rank %d: element %d is %d, want %d", r.comm.Rank(), i, v, 2*(crossings/3))
				break
			}
		}
		r.no(w.Fence(r))
		r.no(w.Free(r))
	})
}

func total(v []uint64) (sum uint64) {
	for _, x := range v {
		sum += x
	}
	return sum
}
