package window_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
	"github.com/golaunch/golaunch/window"
)

func TestCoherentPutGet(t *testing.T) {
	worldtest.AnywhereHosts(t, 2, 2, func(ctx context.Context, comm *world.Comm) {
		const n = 3000
		win, err := window.Allocate[uint64](ctx, comm, n, window.Coherent)
		if err != nil {
			t.Errorf("rank %d: %v", comm.Rank(), err)
			return
		}
		if err := win.Fence(ctx); err != nil {
			t.Error(err)
		}
		// each rank writes a stripe of every part
		for target := range comm.Size() {
			for i := comm.Rank(); i < n; i += comm.Size() {
				if err := win.Put(target, i, []uint64{uint64(target*n + i)}); err != nil {
					t.Error(err)
				}
			}
		}
		if err := win.Fence(ctx); err != nil {
			t.Error(err)
		}
		got := make([]uint64, n)
		for target := range comm.Size() {
			if err := win.Get(target, 0, got); err != nil {
				t.Error(err)
			}
			for i, v := range got {
				if v != uint64(target*n+i) {
					t.Fatalf("rank %d: element %d of %d is %d", comm.Rank(), i, target, v)
				}
			}
		}
		if err := win.Fence(ctx); err != nil {
			t.Error(err)
		}
		for range 1000 {
			if _, err := win.FetchAdd(0, 7, 1); err != nil {
				t.Error(err)
			}
		}
		if err := win.Fence(ctx); err != nil {
			t.Error(err)
		}
		if err := win.Get(0, 7, got[:1]); err != nil || got[0] != uint64(7+1000*comm.Size()) {
			t.Errorf("rank %d: %d, %v", comm.Rank(), got[0], err)
		}
		if err := win.Free(ctx); err != nil {
			t.Error(err)
		}
	})
}

// Pagers reach each other as their ranks do.
func TestPathOfPagers(t *testing.T) {
	run(t, 2, func(r rank) {
		w := allocate[int64](r, 1, window.Coherent)
		for target := range r.comm.Size() {
			want := r.comm.Path(target)
			if want != "self" && want != "shm" {
				want = worldtest.FarPath(want)
			}
			if got := w.Path(target); got != want {
				r.Errorf("rank %d gets pages of rank %d over %q, want %q", r.comm.Rank(), target, got, want)
			}
		}
		r.no(w.Free(r))
	})
}

// Where no page may be watched, Map says why, and Local has nothing.
func TestUnmapped(t *testing.T) {
	if !unwatched() {
		t.Skip("TestAllWindowsCoherent runs it where no page may be watched")
	}
	run(t, 2, func(r rank) {
		w := allocate[int64](r, 10)
		all, err := w.Map()
		if err == nil || !strings.Contains(err.Error(), "pages cannot be watched") || all != nil || w.Local() != nil {
			r.Errorf("rank %d: Map returns %d elements, %v; Local has %d", r.comm.Rank(), len(all), err, len(w.Local()))
		}
		r.no(w.Free(r))
	})
}

func TestCoherentMap(t *testing.T) {
	worldtest.AnywhereHosts(t, 2, 2, func(ctx context.Context, comm *world.Comm) {
		win, err := window.Allocate[int64](ctx, comm, 600, window.Coherent)
		if err != nil {
			t.Errorf("rank %d: %v", comm.Rank(), err)
			return
		}
		all, err := win.Map()
		if err != nil {
			t.Error(err)
			return
		}
		for range 2000 {
			atomic.AddInt64(&all[0], 1)
			atomic.AddInt64(&all[win.Stride()], 1) // of another page, on the same host
			atomic.AddInt64(&all[3*win.Stride()+5], 1)
		}
		if err := win.Fence(ctx); err != nil {
			t.Error(err)
		}
		for _, i := range []int{0, win.Stride(), 3*win.Stride() + 5} {
			if v := all[i]; v != int64(2000*comm.Size()) {
				t.Errorf("rank %d: element %d is %d", comm.Rank(), i, v)
			}
		}
		f, err := win.Coherence()
		t.Logf("rank %d: %+v %v", comm.Rank(), f, err)
		if err := win.Free(ctx); err != nil {
			t.Error(err)
		}
	})
}

// Hosts that use different elements of one page are told so by its home; hosts that use the
// same are not.
func TestFalseSharing(t *testing.T) {
	if unwatched() {
		t.Skip("there is no Map here: the watched run of TestAllWindowsCoherent has it")
	}
	runOn(t, 2, 1, func(r rank) {
		me := r.comm.Rank()
		w := allocate[uint64](r, 1024, window.Coherent)
		all := must[[]uint64](r)(w.Map())
		r.no(w.Fence(r))
		for range 30 {
			atomic.AddUint64(&all[100*me], 1) // of page 0, 800 bytes apart
			atomic.AddUint64(&all[512], 1)
			r.no(w.Fence(r))
		}
		if me == 0 {
			f := must[window.Figures](r)(w.Coherence())
			var hints []bool
			for _, h := range f.Hot[:2] {
				if h.Rank != 0 || h.N != 512 || h.Taken < 5 || h.FalseSharing != (h.Disp == 0) {
					r.Errorf("hot page %+v", h)
				}
				hints = append(hints, h.FalseSharing)
			}
			if hints[0] == hints[1] || !strings.Contains(f.String(), "rank 0, elements 0 to 511: taken") {
				r.Errorf("hints %v in\n%s", hints, f)
			}
		}
		r.no(w.Free(r))
	})
}
