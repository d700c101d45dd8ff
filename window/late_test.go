package window_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/window"
)

// Free, reuse by another window, late remote write: a rank gives its window up alone,
// and allocates again while another one still puts into it. What is put changes nobody
// else's memory; when that rank has given the window up as well, the memory is used
// again.
func TestFreeReuseLateRemoteWrite(t *testing.T) {
	if coherent() {
		t.Skip("elements of coherent windows are not in the arena")
	}
	const n = 10_000
	for _, how := range []struct {
		name       string
		hosts      int
		registered bool // the arena, before: no target refuses a stale key then
	}{{"shared memory", 1, false}, {"two hosts", 2, false}, {"two hosts, the arena registered", 2, true}} {
		freed, written, done := gather(2), gather(2), gather(2)
		t.Run(how.name, func(t *testing.T) {
			runOn(t, how.hosts, 2/how.hosts, func(r rank) {
				if how.registered {
					registerArena(r)
				}
				w := allocate[int64](r, n, window.Name("old"))
				memory := r.comm.Arena()
				place, _ := arena.Where(memory, w.Local())
				r.no(w.LockAll(r))
				meet(r)
				if r.comm.Rank() == 1 {
					freed.meet(r)
					late := make([]int64, n)
					for i := range late {
						late[i] = -1
					}
					err := errors.Join(w.Put(0, 0, late), w.FlushAll())
					if refused := w.Path(0) == "tcp" && !how.registered; refused != (err != nil) {
						r.Errorf("the late Put ends with %v", err)
					}
					written.meet(r)
					_ = w.UnlockAll() // on another host the service is gone
					var broken *world.BrokenError
					if err := w.Free(r); !errors.As(err, &broken) {
						r.Errorf("Free of a window whose communicator is broken gives %v", err)
					}
					if err := w.Put(0, 0, late[:1]); err == nil {
						r.Errorf("a freed handle is not refused at the origin")
					}
					await(r, "nothing of rank 1 is held any more", func() bool { return memory.Usage().Quarantined == 0 })
					done.meet(r)
					return
				}
				r.no(w.UnlockAll())
				ctx, cancel := context.WithCancelCause(r)
				cancel(errImpatient)
				if err := w.Free(ctx); !errors.Is(err, errImpatient) {
					r.Errorf("the cancelled Free gives %v", err)
				}
				if u := memory.Usage(); u.Quarantined < 8*n {
					r.Errorf("%d bytes are quarantined", u.Quarantined)
				}
				var again [][]int64
				for i := range 4 {
					mem, err := arena.Alloc[int64](memory, n)
					r.no(err)
					for j := range mem {
						mem[j] = int64(i)
					}
					again = append(again, mem)
				}
				freed.meet(r)
				written.meet(r)
				for i, mem := range again {
					for _, v := range mem {
						if v != int64(i) {
							r.Errorf("a late write shows in memory allocated after: %d", v)
							break
						}
					}
				}
				await(r, "rank 1 confirms", func() bool { return memory.Usage().Quarantined == 0 })
				done.meet(r)
				for range 10 { // it is on some free list
					mem, err := arena.Alloc[int64](memory, n)
					r.no(err)
					if at, _ := arena.Where(memory, mem); at.Key == place.Key && at.Offset <= place.Offset && place.Offset < at.Offset+8*n+8192 {
						return
					}
				}
				r.Errorf("the memory of the old window is not used again")
			})
		})
	}
}

// registerArena has it registered with what leads to other hosts. A device's is.
func registerArena(r rank) {
	err := r.comm.Arena().Register(world.Of(r.comm).Registrar())
	if !errors.Is(err, arena.ErrRegistered) {
		r.no(err)
	}
}

// What TestFreeReuseLateRemoteWrite shows is due to the confirmation: were memory used
// again without that of the rank that had its key, the late write would be in it.
func TestLateRemoteWriteUnconfirmed(t *testing.T) {
	if coherent() {
		t.Skip("elements of coherent windows are not in the arena")
	}
	const n = 10_000
	for _, hosts := range layouts(2) {
		freed, written := gather(2), gather(2)
		runOn(t, hosts, 2/hosts, func(r rank) {
			if hosts > 1 {
				registerArena(r)
			}
			w := allocate[int64](r, n)
			r.no(w.LockAll(r))
			meet(r)
			if r.comm.Rank() == 1 {
				late := slices.Repeat([]int64{-1}, n)
				freed.meet(r)
				r.no(w.Put(0, 0, late))
				r.no(w.FlushAll())
				written.meet(r)
				return
			}
			r.no(w.UnlockAll())
			r.no(w.DisownUnconfirmed())
			var again [][]int64
			for range 4 {
				mem, err := arena.Alloc[int64](r.comm.Arena(), n)
				r.no(err)
				again = append(again, mem)
			}
			freed.meet(r)
			written.meet(r)
			if !slices.ContainsFunc(again, func(mem []int64) bool { return slices.Contains(mem, -1) }) {
				r.Errorf("on %d hosts, a late write by %s does not show: the confirmation protects from nothing", hosts, w.Path(1))
			}
		})
	}
}

// With a registered arena, making and freeing windows registers nothing.
func TestWindowsRegisterNothing(t *testing.T) {
	runOn(t, 2, 1, func(r rank) {
		memory := r.comm.Arena()
		registerArena(r)
		var before uint64
		for i := range 20 {
			w := allocate[int64](r, 10_000)
			if i == 0 { // has grown
				before = memory.Usage().Registrations
			}
			other := 1 - r.comm.Rank()
			r.no(w.Fence(r))
			r.no(w.Put(other, 9_000, []int64{int64(i), 7}))
			if old := must[int64](r)(w.FetchAdd(other, 5, 3)); old != 0 {
				r.Errorf("FetchAdd finds %d in a new window", old)
			}
			r.no(w.Fence(r))
			if l := w.Local(); l[9_000] != int64(i) || l[9_001] != 7 || l[5] != 3 {
				r.Errorf("window %d holds %d, %d, %d", i, l[9_000], l[9_001], l[5])
			}
			r.no(w.Free(r))
		}
		if n := memory.Usage().Registrations - before; n != 0 {
			r.Errorf("%d registrations", n)
		}
	})
}

// await polls until something is so.
func await(r rank, what string, so func() bool) {
	r.Helper()
	for !so() {
		world.Of(r.comm).Progress()
		if r.Err() != nil {
			r.Errorf("rank %d: in vain: %s", r.comm.Rank(), what)
			return
		}
	}
}

// A collective that fails at one rank has what it frees afterwards held, until the others
// have noticed, too.
func TestBrokenCommunicatorHolds(t *testing.T) {
	for _, hosts := range layouts(3) {
		ready, failed, done := gather(3), gather(3), gather(3)
		runOn(t, hosts, 3/hosts, func(r rank) {
			memory := r.comm.Arena()
			mem, err := arena.Alloc[byte](memory, 1<<20)
			r.no(err)
			w := allocate[int64](r, 1)
			ready.meet(r)
			if r.comm.Rank() == 0 {
				ctx, cancel := context.WithCancelCause(r)
				cancel(errImpatient)
				if _, err := window.Allocate[int64](ctx, r.comm, 1); !errors.Is(err, errImpatient) {
					r.Errorf("%v", err)
				}
				r.no(arena.Free(memory, mem))
				if u := memory.Usage(); u.Quarantined < 1<<20 {
					r.Errorf("%d bytes are quarantined", u.Quarantined)
				}
			}
			failed.meet(r)
			var broken *world.BrokenError
			for !errors.As(errorOf(window.Allocate[int64](r, r.comm, 1)), &broken) {
				r.no(context.Cause(r)) // until the news is here
			}
			_ = w.Free(r)
			await(r, "the others confirm", func() bool { return memory.Usage().Quarantined == 0 })
			done.meet(r)
		})
	}
}
