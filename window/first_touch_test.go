package window_test

import (
	"os"
	"sync/atomic"
	"testing"

	"github.com/golaunch/golaunch/window"
)

// kept is how many pages each host keeps when all have given up what they need not have: those
// that are stored there. places are where the pages are that were touched, in Map's slice.
func kept(r rank, w *window.Window[uint64], places []int) (pages []int) {
	r.Helper()
	all := must[[]uint64](r)(w.Map())
	for _, at := range places {
		atomic.LoadUint64(&all[at]) // now its home has a copy, and can only lose it to a writer
	}
	r.no(w.Fence(r))
	for sum := -1; sum != len(places); {
		r.no(w.Evict(0, len(all))) // what was fetched a moment ago stays
		f := must[window.Figures](r)(w.Coherence())
		counts := allocate[uint64](r, 1)
		counts.Local()[0] = f.Resident / uint64(os.Getpagesize())
		r.no(counts.Fence(r))
		var n [1]uint64
		sum, pages = 0, nil
		for m := range r.comm.Size() {
			r.no(counts.Get(m, 0, n[:]))
			sum, pages = sum+int(n[0]), append(pages, int(n[0]))
		}
		r.no(counts.Free(r))
	}
	return pages
}

// A page is stored where it was touched first, whosever part it is in, also after others
// have read and written it.
func TestFirstTouch(t *testing.T) {
	const apart = 100 * pageWords // such that nothing is fetched ahead
	runOn(t, 3, 1, func(r rank) {
		me := r.comm.Rank()
		w := allocate[uint64](r, 9*apart, window.Coherent, window.FirstTouch)
		all := must[[]uint64](r)(w.Map())
		r.no(w.Fence(r))
		var places, owner []int // host h touches h+1 places of each part first
		for part := range 3 {
			for i, host := range []int{0, 1, 1, 2, 2, 2} {
				places, owner = append(places, part*w.Stride()+i*apart), append(owner, host)
			}
		}
		for i, at := range places {
			switch {
			case owner[i] != me:
			case i%2 == 0:
				r.no(w.Put(at/w.Stride(), at%w.Stride(), []uint64{uint64(at)}))
			default:
				all[at] = uint64(at)
			}
		}
		r.no(w.Fence(r))
		for _, at := range places {
			if v := atomic.AddUint64(&all[at], 1<<32); v&(1<<32-1) != uint64(at) {
				r.Errorf("rank %d: element %d is %#x", me, at, v)
			}
		}
		r.no(w.Fence(r))
		if n := kept(r, w, places); n[0] != 3 || n[1] != 6 || n[2] != 9 {
			r.Errorf("hosts store %v pages, want 3, 6 and 9", n)
		}
		for _, at := range places {
			if v := all[at]; v != 3<<32|uint64(at) {
				r.Errorf("rank %d: element %d ends as %#x", me, at, v)
			}
		}
		r.no(w.Fence(r))
		r.no(w.Free(r))
	})
}

// Hosts that touch pages at the same time agree on whose each is, and lose nothing.
func TestFirstTouchRaces(t *testing.T) {
	const pages, times = 40, 5
	runOn(t, 3, 1, func(r rank) {
		w := allocate[uint64](r, pages*pageWords, window.Coherent, window.FirstTouch)
		all := must[[]uint64](r)(w.Map())
		r.no(w.Fence(r))
		var places []int
		for page := range 3 * pages {
			places = append(places, page/pages*w.Stride()+page%pages*pageWords)
		}
		for i := range times * len(places) {
			at := places[(i*7+r.comm.Rank())%len(places)] // 7 has no factor in common with their number
			if i%2 == 0 {
				atomic.AddUint64(&all[at], 1)
			} else {
				_, err := w.FetchAdd(at/w.Stride(), at%w.Stride(), 1)
				r.no(err)
			}
		}
		r.no(w.Fence(r))
		r.t.Logf("rank %d: hosts store %v pages", r.comm.Rank(), kept(r, w, places))
		for _, at := range places {
			if v := all[at]; v != 3*times {
				r.Errorf("rank %d: element %d counts %d, want %d", r.comm.Rank(), at, v, 3*times)
				break
			}
		}
		r.no(w.Fence(r))
		r.no(w.Free(r))
	})
}
