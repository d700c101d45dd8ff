package window_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/window"
)

var errImpatient = errors.New("impatient")

// A Lock whose context ends leaves the queue, and the window is as before.
func TestCancelledLock(t *testing.T) {
	run(t, 2, func(r rank) {
		w := allocate[int64](r, 1)
		me := r.comm.Rank()
		r.no(w.Fence(r))
		if me == 0 {
			r.no(w.Lock(r, 1, window.Exclusive))
		}
		meet(r)
		if me == 1 {
			ctx, cancel := context.WithCancelCause(r)
			cancel(errImpatient)
			if err := w.Lock(ctx, 1, window.Shared); !errors.Is(err, errImpatient) {
				r.Errorf("the cancelled Lock gives %v", err)
			}
			if err := w.LockAll(ctx); !errors.Is(err, errImpatient) {
				r.Errorf("the cancelled LockAll gives %v", err)
			}
			if err := w.Put(0, 0, []int64{1}); err == nil {
				r.Errorf("a cancelled LockAll leaves an epoch open")
			}
			r.no(w.Lock(r, 0, window.Exclusive)) // which LockAll had and gave back
			r.no(w.Unlock(0))
		}
		meet(r)
		if me == 0 {
			r.no(w.Unlock(1))
		}
		r.no(w.Lock(r, 1, window.Exclusive))
		r.no(w.Unlock(1))
		r.no(w.Free(r))
	})
}

// meet is a barrier that has nothing to do with the window under test.
func meet(r rank) {
	g := world.Of(r.comm).Group()
	g.Publish(77, nil)
	r.no(g.WaitAll(r))
}

// A gathering is where n goroutines meet without a message that could be lost when one
// of them fails at once.
type gathering struct {
	missing atomic.Int32
	all     chan struct{}
}

func gather(n int) *gathering {
	g := &gathering{all: make(chan struct{})}
	g.missing.Store(int32(n))
	return g
}

func (g *gathering) meet(r rank) {
	if g.missing.Add(-1) == 0 {
		close(g.all)
	}
	select {
	case <-g.all:
	case <-r.Done():
		r.no(context.Cause(r))
	}
}

// A cancelled Fence breaks the window on every rank; the communicator is whole, and the
// window can be freed.
func TestCancelledFence(t *testing.T) {
	run(t, 3, func(r rank) {
		w := allocate[int64](r, 1000, window.Name("halo"))
		other := allocate[int64](r, 1)
		before := r.comm.Arena().Usage()
		r.no(w.Fence(r))
		meet(r) // who breaks the window breaks the Fence that others on other hosts are still in
		var broken *world.BrokenError
		if r.comm.Rank() == 1 {
			ctx, cancel := context.WithCancelCause(r)
			cancel(errImpatient)
			if err := w.Fence(ctx); !errors.Is(err, errImpatient) {
				r.Errorf("the cancelled Fence gives %v", err)
			}
		}
		meet(r)
		if p := w.Path(1); p == "tcp" || p == "verbs" { // where the news of the end may not have arrived
			_ = w.Fence(r)
		}
		if err := w.Fence(r); !errors.As(err, &broken) || broken.Rank != 1 || broken.Cause != "impatient" {
			r.Errorf("rank %d: Fence gives %v", r.comm.Rank(), err)
		}
		for name, err := range map[string]error{
			"Fence":     w.Fence(r),
			"Lock":      w.Lock(r, 0, window.Exclusive),
			"LockAll":   w.LockAll(r),
			"Put":       w.Put(0, 0, []int64{1}),
			"FlushAll":  w.FlushAll(),
			"UnlockAll": w.UnlockAll(),
			"Unlock":    w.Unlock(0),
		} {
			if !errors.As(err, &broken) {
				r.Errorf("rank %d: %s on a broken window gives %v", r.comm.Rank(), name, err)
			}
		}
		r.no(other.Fence(r))
		r.no(w.Free(r))
		r.no(other.Free(r))
		if after := r.comm.Arena().Usage(); after.InUse >= before.InUse || after.Quarantined != 0 {
			r.Errorf("rank %d: after Free the usage is %+v, with the windows it was %+v", r.comm.Rank(), after, before)
		}
	})
}

// A rank that waits for a lock learns that another one has failed, in both cases: the
// holder, and one that has nothing to do with the lock.
func TestFailedRankEndsWaiting(t *testing.T) {
	for i := range 2 * len(layouts(3)) {
		holder := 1 + i%2
		over, ready := make(chan struct{}), gather(3)
		runOn(t, layouts(3)[i/2], 3/layouts(3)[i/2], func(r rank) {
			w := allocate[int64](r, 1)
			me := r.comm.Rank()
			if me == holder {
				r.no(w.Lock(r, 0, window.Exclusive))
			}
			ready.meet(r)
			switch me {
			case 1:
				r.no(r.comm.Abort(9))
			case 2: // must not leave before: it would be the failed rank
				select {
				case <-over:
				case <-r.Done():
				}
			case 0:
				defer close(over)
				var failed *world.RankFailedError
				if err := w.Lock(r, 0, window.Shared); !errors.As(err, &failed) || failed.Rank != 1 {
					r.Errorf("with rank %d holding the lock, rank 0's error is %v", holder, err)
				}
				if err := w.Fence(r); !errors.As(err, &failed) {
					r.Errorf("rank 0's Fence gives %v", err)
				}
			}
		})
	}
}

// A rank that ends in the middle of a collective call of a window is an error for the
// others.
func TestFailedRankEndsCollectives(t *testing.T) {
	for _, hosts := range layouts(3) {
		ready := gather(3)
		runOn(t, hosts, 3/hosts, func(r rank) {
			w := allocate[int64](r, 1)
			ready.meet(r)
			if r.comm.Rank() == 1 {
				r.no(r.comm.Abort(3))
				return
			}
			// The first to fail breaks the communicator, which is what the other may see.
			var failed *world.RankFailedError
			var broken *world.BrokenError
			if err := w.Free(r); !errors.As(err, &failed) && !errors.As(err, &broken) {
				r.Errorf("rank %d: Free gives %v", r.comm.Rank(), err)
			}
			if _, err := window.Allocate[int64](r, r.comm, 1); !errors.As(err, &broken) {
				r.Errorf("rank %d: Allocate gives %v", r.comm.Rank(), err)
			}
		})
	}
}
