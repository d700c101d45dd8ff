package window_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
	"github.com/golaunch/golaunch/window"
)

func TestPath(t *testing.T) {
	runOn(t, 2, 2, func(r rank) {
		w := allocate[int64](r, 1)
		for target := range 4 {
			want := worldtest.FarPath(w.Path(target))
			switch {
			case target == r.comm.Rank():
				want = "self"
			case target/2 == r.comm.Rank()/2:
				want = "shm"
			}
			if got := w.Path(target); got != want {
				r.Errorf("rank %d reaches rank %d over %q, want %q", r.comm.Rank(), target, got, want)
			}
		}
		if w.Path(-1) != "" || w.Path(4) != "" {
			r.Errorf("there is a path to nobody")
		}
		r.no(w.Free(r))
	})
}

// Operations of a rank on one target take effect in the order of the calls, without a
// Flush in between, whichever of them the transport carries out and whichever the
// service.
func TestProgramOrder(t *testing.T) {
	run(t, 2, func(r rank) {
		w := allocate[int64](r, 4)
		if r.comm.Rank() == 0 {
			r.no(w.LockAll(r))
			got := []int64{0}
			for i := range int64(200) {
				r.no(w.Put(1, 0, []int64{i}))
				r.no(w.Accumulate(1, 0, []int64{10}, window.Sum))
				r.no(w.Get(1, 0, got))
				if got[0] != i+10 {
					r.Errorf("round %d: Put and Accumulate give %d", i, got[0])
				}
				r.no(w.Accumulate(1, 0, []int64{2}, window.Prod))
				r.no(w.Put(1, 1, []int64{-i}))
				if old := must[int64](r)(w.FetchAdd(1, 0, 1)); old != 2*(i+10) {
					r.Errorf("round %d: FetchAdd finds %d", i, old)
				}
				r.no(w.Accumulate(1, 1, []int64{7}, window.Replace))
				if old := must[int64](r)(w.FetchAndOp(1, 1, 3, window.Max)); old != 7 {
					r.Errorf("round %d: FetchAndOp finds %d", i, old)
				}
				r.no(w.Accumulate(1, 1, []int64{8}, window.Replace))
				if old := must[int64](r)(w.CompareAndSwap(1, 1, 8, 9)); old != 8 {
					r.Errorf("round %d: CompareAndSwap finds %d", i, old)
				}
			}
			r.no(w.UnlockAll())
		}
		r.no(w.Free(r))
	})
}

// What a goroutine has put or accumulated is in the target's memory when its Flush
// returns, also when others flush at the same time.
func TestFlushCompletes(t *testing.T) {
	const goroutines, times = 4, 300
	for _, hosts := range layouts(2) {
		var parts [2][]int64 // the ranks are goroutines, so everybody may look
		ready := gather(2)
		runOn(t, hosts, 2/hosts, func(r rank) {
			w := allocate[int64](r, 2*goroutines)
			me := r.comm.Rank()
			parts[me] = w.Local()
			ready.meet(r)
			r.no(w.LockAll(r))
			var all sync.WaitGroup
			for g := range goroutines {
				all.Go(func() {
					there := parts[1-me]
					for i := range int64(times) {
						if err := errors.Join(w.Put(1-me, g, []int64{i}), w.Flush(1-me)); err != nil {
							r.Errorf("%v", err)
							return
						}
						if got := atomic.LoadInt64(&there[g]); got != i {
							r.Errorf("after the Flush of a Put of %d there is %d", i, got)
						}
						if err := errors.Join(w.Accumulate(1-me, goroutines+g, []int64{1}, window.Sum), w.FlushAll()); err != nil {
							r.Errorf("%v", err)
							return
						}
						if got := atomic.LoadInt64(&there[goroutines+g]); got != i+1 {
							r.Errorf("after FlushAll the sum is %d, want %d", got, i+1)
						}
					}
				})
			}
			all.Wait()
			r.no(w.UnlockAll())
			r.no(w.Free(r))
		})
	}
}

// Accumulates of more elements than fit into a message, and of more of them than may be
// under way.
func TestLongAccumulates(t *testing.T) {
	const n = 100_000
	run(t, 2, func(r rank) {
		w, c := allocate[float32](r, n), allocate[complex128](r, n/10)
		me := r.comm.Rank()
		ones, units := make([]float32, n), make([]complex128, n/10)
		for i := range ones {
			ones[i] = float32(i)
		}
		for i := range units {
			units[i] = complex(1, float64(i))
		}
		r.no(w.Fence(r))
		r.no(c.Fence(r))
		for target := range 2 {
			r.no(w.Accumulate(target, 1, ones[1:], window.Sum))
			r.no(c.Accumulate(target, 0, units, window.Sum))
		}
		r.no(w.Fence(r))
		r.no(c.Fence(r))
		for i, v := range w.Local() {
			if v != 2*float32(i) {
				r.Errorf("rank %d: element %d is %v", me, i, v)
				break
			}
		}
		for i, v := range c.Local() {
			if v != complex(2, 2*float64(i)) {
				r.Errorf("rank %d: element %d is %v", me, i, v)
				break
			}
		}
		r.no(w.Free(r))
		r.no(c.Free(r))
	})
}

// huge elements fit into no message.
type huge [700]int64

// All ranks change the same element of rank 0 in every way that elements of this size have.
func TestLargeElements(t *testing.T) {
	const times = 20
	run(t, 3, func(r rank) {
		w := allocate[huge](r, 2)
		r.no(w.LockAll(r))
		for range times {
			for expect := must[huge](r)(w.FetchAndOp(0, 0, huge{}, window.NoOp)); ; {
				next := expect
				for i := range next {
					next[i]++
				}
				old := must[huge](r)(w.CompareAndSwap(0, 0, expect, next))
				if old == expect {
					break
				}
				expect = old
			}
		}
		me := int64(r.comm.Rank())
		src := []huge{{me, 699: me}, {me, 699: me}}
		r.no(w.Accumulate(1, 0, src, window.Replace))
		r.no(w.Accumulate(1, 0, src, window.NoOp))
		must[huge](r)(w.FetchAndOp(2, 1, src[0], window.Replace))
		r.no(w.UnlockAll())
		meet(r)
		switch me {
		case 0:
			for i, v := range w.Local()[0] {
				if v != 3*times {
					r.Errorf("counted to %d at %d, want %d", v, i, 3*times)
					break
				}
			}
		case 1:
			for _, e := range w.Local() {
				if e[0] != e[699] {
					r.Errorf("an element is a mixture")
				}
			}
		}
		r.no(w.Free(r))
	})
}

// Buffers on a stack that moves while a Get is under way.
func TestStackBuffers(t *testing.T) {
	run(t, 2, func(r rank) {
		w := allocate[int64](r, 64)
		other := 1 - r.comm.Rank()
		r.no(w.Fence(r))
		var all sync.WaitGroup
		for g := range 8 {
			all.Go(func() { deep(r, w, other, int64(g), 60) })
		}
		all.Wait()
		r.no(w.Fence(r))
		r.no(w.Free(r))
	})
}

// deep puts and gets at every depth of a stack that grows.
func deep(r rank, w *window.Window[int64], other int, g int64, depth int64) {
	var local [300]int64
	local[0], local[7] = g, depth
	at := int(g) * 8
	if err := w.Put(other, at, local[:8]); err != nil {
		r.Errorf("%v", err)
		return
	}
	var back [8]int64
	if err := w.Get(other, at, back[:]); err != nil || !slices.Equal(back[:], local[:8]) {
		r.Errorf("goroutine %d at %d gets %v, %v", g, depth, back, err)
	}
	if depth > 0 {
		deep(r, w, other, g, depth-1)
	}
}

// A rank that waits for a lock on another host and fails leaves the queue.
func TestWaiterOnAnotherHostFails(t *testing.T) {
	ready, failed := gather(2), make(chan struct{})
	runOn(t, 2, 1, func(r rank) {
		w := allocate[int64](r, 1)
		if r.comm.Rank() == 1 {
			ready.meet(r)
			ctx, cancel := context.WithCancel(r)
			defer cancel()
			go func() { // when it is in the queue, or on its way there
				defer close(failed)
				if err := r.comm.Abort(1); err != nil {
					r.Errorf("%v", err)
				}
			}()
			if err := w.Lock(ctx, 0, window.Exclusive); err == nil {
				r.Errorf("the lock of a rank that has failed is given")
			}
			<-failed
			return
		}
		r.no(w.Lock(r, 0, window.Exclusive))
		ready.meet(r)
		<-failed
		for world.Of(r.comm).Failure(1) == nil && r.Err() == nil { // the news may be later than the request
			runtime.Gosched()
		}
		r.no(w.Unlock(0))
		for { // until the other's request is gone
			err := w.Lock(r, 0, window.Exclusive)
			if err == nil {
				break
			}
			var dead *world.RankFailedError
			if !errors.As(err, &dead) || dead.Rank != 1 || r.Err() != nil {
				r.Errorf("%v", err)
				return
			}
		}
		r.no(w.Put(0, 0, []int64{1}))
		r.no(w.Unlock(0))
	})
}

// A target that leaves with its window is a failed rank for those who wait for its lock,
// and nothing of its service goes on.
func TestTargetLeaves(t *testing.T) {
	for _, hosts := range layouts(3) {
		ready, done := gather(3), gather(2)
		runOn(t, hosts, 3/hosts, func(r rank) {
			w := allocate[int64](r, 4)
			me := r.comm.Rank()
			if me == 0 {
				r.no(w.Lock(r, 0, window.Exclusive))
			}
			ready.meet(r)
			if me == 0 {
				return
			}
			var failed *world.RankFailedError
			if err := w.Lock(r, 0, window.Shared); !errors.As(err, &failed) || failed.Rank != 0 {
				r.Errorf("rank %d's Lock gives %v", me, err)
			}
			if hosts == 1 {
				return
			}
			r.no(w.Lock(r, 3-me, window.Shared)) // nobody need be waited for
			r.no(w.Unlock(3 - me))
			done.meet(r)
		})
	}
}

// What a rank does to a target on another host that has failed is an error that says so.
func TestOperationsOnTheDead(t *testing.T) {
	if coherent() {
		t.Skip("the part of a rank that has died stays, as on one host: the pagers have its pages")
	}
	ready := gather(2)
	runOn(t, 2, 1, func(r rank) {
		w := allocate[float64](r, 4, window.Name("halo"))
		r.no(w.LockAll(r))
		r.no(w.Put(1-r.comm.Rank(), 0, []float64{1})) // connected
		r.no(w.FlushAll())
		ready.meet(r)
		if r.comm.Rank() == 1 {
			r.no(r.comm.Abort(5))
			return
		}
		var failed *world.RankFailedError
		dst := make([]float64, 4)
		for errors.As(w.Get(1, 0, dst), &failed) == false {
			r.no(context.Cause(r)) // until the news is here
		}
		for what, err := range map[string]error{
			"Get of 4 elements at displacement 0 of target 1":           w.Get(1, 0, dst),
			"Accumulate of 1 element at displacement 0 of target 1":     errors.Join(w.Accumulate(1, 0, dst[:1], window.Sum), w.Flush(1)),
			"FetchAndOp of 1 element at displacement 2 of target 1":     errorOf(w.FetchAndOp(1, 2, 1, window.Sum)),
			"CompareAndSwap of 1 element at displacement 2 of target 1": errorOf(w.CompareAndSwap(1, 2, 1, 2)),
			"UnlockAll: the lock of target 1":                           w.UnlockAll(),
		} {
			prefix := fmt.Sprintf(`rank 0: window "halo": %s: `, what)
			if !errors.As(err, &failed) || failed.Rank != 1 || len(err.Error()) < len(prefix) || err.Error()[:len(prefix)] != prefix {
				r.Errorf("the error is %v, want one that begins with %s", err, prefix)
			}
		}
	})
}
