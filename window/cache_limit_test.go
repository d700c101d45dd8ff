package window_test

import (
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/golaunch/golaunch/window"
)

const (
	pageWords = 512
	limitOf   = 64 // pages
)

var cacheLimit = window.CacheLimit(limitOf * pageWords * 8)

// What a coherent window can be asked for is checked at every rank, and agreed on.
func TestCachingRefused(t *testing.T) {
	type options = []window.Option
	for _, c := range []struct {
		zero, one options // of ranks 0 and 1
		want      string
	}{
		{options{window.Coherent}, options{window.Coherent, window.CacheLimit(100)}, "rank 1: CacheLimit of 100 bytes, which is less than a page (4096)"},
		{options{window.Coherent}, options{window.Coherent, window.CacheLimit(-1)}, "rank 1: CacheLimit of -1 bytes, which is less than a page (4096)"},
		{options{window.Coherent}, options{window.Coherent, window.CacheLimit(0)}, "rank 1: CacheLimit of 0 bytes, which is less than a page (4096)"},
		{options{window.Coherent}, options{window.Coherent, window.CacheLimit(8192)}, "rank 1: its CacheLimit is 8192 bytes, that of rank 0 none"},
		{options{window.Coherent, window.CacheLimit(8192)}, options{window.Coherent}, "rank 1: its CacheLimit is none, that of rank 0 8192 bytes"},
		{options{window.Coherent, window.CacheLimit(8192)}, options{window.Coherent, window.CacheLimit(8193)}, "rank 1: its CacheLimit is 8193 bytes, that of rank 0 8192 bytes"},
		{options{window.Coherent, window.FirstTouch}, options{window.Coherent}, "rank 1: it asks for FirstTouch, or rank 0 does, and not both"},
	} {
		run(t, 2, func(r rank) {
			mine := c.zero
			if r.comm.Rank() == 1 {
				mine = c.one
			}
			_, err := window.Allocate[uint64](r, r.comm, 8, mine...)
			if err == nil || !strings.HasSuffix(err.Error(), ": "+c.want) {
				r.Errorf("rank %d's error is %v,\n want one that ends with %s", r.comm.Rank(), err, c.want)
			}
			r.no(allocate[uint64](r, 8).Free(r)) // the communicator is whole
		})
	}
	if coherent() {
		return
	}
	for _, c := range []struct {
		option window.Option
		want   string
	}{
		{window.CacheLimit(8192), "CacheLimit of 8192 bytes without Coherent"},
		{window.FirstTouch, "FirstTouch without Coherent"},
	} {
		run(t, 2, func(r rank) {
			if _, err := window.Allocate[uint64](r, r.comm, 8, c.option); err == nil || !strings.HasSuffix(err.Error(), ": rank 0: "+c.want) {
				r.Errorf("rank %d's error is %v,\n want one that ends with %s", r.comm.Rank(), err, c.want)
			}
		})
	}
}

// watching reads the figures all the time, until the returned function is called, which
// returns the most memory that the host's pages took.
func watching(r rank, w *window.Window[uint64]) (most func() uint64) {
	var over atomic.Bool
	var done sync.WaitGroup
	var resident uint64
	done.Go(func() {
		for !over.Load() {
			f, err := w.Coherence()
			if err != nil {
				r.Errorf("rank %d: %v", r.comm.Rank(), err)
				return
			}
			resident = max(resident, f.Resident)
		}
	})
	return func() uint64 {
		over.Store(true)
		done.Wait()
		return resident
	}
}

// withinLimit checks what pages of others took.
func withinLimit(r rank, what string, resident uint64) {
	r.Helper()
	if limit := uint64(limitOf * os.Getpagesize()); resident > limit || resident < limit/2 {
		r.Errorf("rank %d: %s: the cache took %d bytes, the limit is %d", r.comm.Rank(), what, resident, limit)
	}
}

// walked is how many pages are walked over: ten times the limit.
const walked = 10 * limitOf

// A host walks over another one's part, which is larger than its cache may be: it takes no
// more memory, and sees and leaves the right contents. (That part is the last one: behind it
// nothing is fetched ahead.)
func TestCacheLimit(t *testing.T) {
	const n = walked * pageWords
	for _, way := range []struct {
		name  string
		read  func(r rank, w *window.Window[uint64], at int) uint64
		write func(r rank, w *window.Window[uint64], at int, v uint64)
	}{
		{"calls", func(r rank, w *window.Window[uint64], at int) uint64 {
			var v [1]uint64
			r.no(w.Get(1, at, v[:]))
			return v[0]
		}, func(r rank, w *window.Window[uint64], at int, v uint64) { r.no(w.Put(1, at, []uint64{v})) }},
		{"loads", func(r rank, w *window.Window[uint64], at int) uint64 {
			return must[[]uint64](r)(w.Map())[w.Stride()+at]
		},
			func(r rank, w *window.Window[uint64], at int, v uint64) {
				must[[]uint64](r)(w.Map())[w.Stride()+at] = v
			}},
	} {
		t.Run(way.name, func(t *testing.T) {
			runOn(t, 2, 1, func(r rank) {
				w := allocate[uint64](r, n, window.Coherent, cacheLimit)
				if r.comm.Rank() == 1 {
					for i := range w.Local() {
						w.Local()[i] = uint64(i)
					}
				}
				r.no(w.Fence(r))
				if r.comm.Rank() == 0 {
					most := watching(r, w)
					for pass := range uint64(3) {
						for at := 0; at < n; at += pageWords / 2 {
							if v, want := way.read(r, w, at), pass<<32|uint64(at); v != want {
								r.Errorf("pass %d: element %d is %#x, want %#x", pass, at, v, want)
								r.t.FailNow()
							}
							way.write(r, w, at, (pass+1)<<32|uint64(at))
						}
					}
					withinLimit(r, "walking", most())
					f := must[window.Figures](r)(w.Coherence())
					if f.Evictions < 3*walked-limitOf || f.PagesOut < 3*walked-limitOf || f.Invalidations > limitOf {
						r.Errorf("%d evictions, %d pages out, %d invalidations", f.Evictions, f.PagesOut, f.Invalidations)
					}
				}
				r.no(w.Fence(r))
				if r.comm.Rank() == 1 {
					for i, v := range w.Local() {
						want := uint64(i)
						if i%(pageWords/2) == 0 {
							want |= 3 << 32
						}
						if v != want {
							r.Errorf("element %d is %#x, want %#x", i, v, want)
							break
						}
					}
				}
				r.no(w.Free(r))
			})
		})
	}
}

// Transfers that are longer than the cache may be go through it piece by piece.
func TestCacheLimitLongTransfer(t *testing.T) {
	const n = walked * pageWords
	runOn(t, 2, 1, func(r rank) {
		w := allocate[uint64](r, n, window.Coherent, cacheLimit)
		r.no(w.Fence(r))
		if r.comm.Rank() == 0 {
			most := watching(r, w)
			values := make([]uint64, n-7)
			for i := range values {
				values[i] = uint64(i + 1)
			}
			r.no(w.Put(1, 7, values))
			r.no(w.Accumulate(1, 7, values, window.Sum))
			got := make([]uint64, n)
			r.no(w.Get(1, 0, got))
			for i, v := range got {
				if want := uint64(max(0, 2*(i-6))); v != want {
					r.Errorf("element %d is %d, want %d", i, v, want)
					break
				}
			}
			withinLimit(r, "transfers", most())
		}
		r.no(w.Fence(r))
		r.no(w.Free(r))
	})
}

// Ranks of two hosts fault on what one of them stores, at the same time and in no order: the
// other host keeps to its limit, and no addition is lost.
func TestCacheLimitUnderFaults(t *testing.T) {
	const each, additions = 3, 1500
	runOn(t, 2, each, func(r rank) {
		me := r.comm.Rank()
		const pages = walked / each
		w := allocate[uint64](r, pages*pageWords, window.Coherent, cacheLimit)
		all := must[[]uint64](r)(w.Map())
		clear(w.Local()) // its pages are here, whatever else is fetched ahead
		r.no(w.Fence(r))
		own, most := uint64(each*pages*os.Getpagesize()), func() uint64 { return 0 }
		if me == 0 {
			most = watching(r, w)
		}
		random := rand.New(rand.NewPCG(uint64(me), 5))
		for range additions {
			target, disp := each+random.IntN(each), random.IntN(pages)*pageWords
			if random.IntN(2) == 0 {
				atomic.AddUint64(&all[target*w.Stride()+disp], 1)
			} else {
				_, err := w.FetchAdd(target, disp, 1)
				r.no(err)
			}
		}
		resident := most()
		r.no(w.Fence(r))
		if me == 0 {
			withinLimit(r, "faults", resident-own)
			if sum := total(all[each*w.Stride():]); sum != 2*each*additions {
				r.Errorf("%d of %d additions are left", sum, 2*each*additions)
			}
		}
		r.no(w.Fence(r))
		r.no(w.Free(r))
	})
}
