package window_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/window"
)

// All ranks hammer the same elements of rank 0 in every way that is atomic, and with
// Put and Get under locks; nothing may be lost. (Processes on too few cores included.)
func TestStressedProcesses(t *testing.T) {
	for _, procs := range []int{1, 2, 4} {
		for _, n := range []int{2, 4} {
			for _, hosts := range layouts(n) {
				if hosts > 1 && procs != 2 {
					continue
				}
				out, err := launch(t, n, "stress", onMachine(hosts), fmt.Sprintf("%s=%d", procsVariable, procs))
				if err != nil {
					t.Errorf("%d ranks on %d hosts with GOMAXPROCS %d: %v\n%s", n, hosts, procs, err, out)
				}
			}
		}
	}
}

func TestStressedGoroutines(t *testing.T) {
	run(t, 4, func(r rank) { r.no(stressProgram(r, r.comm)) })
}

// stressTimes is how often each rank adds to an element, fewer times where that takes
// messages.
func stressTimes(comm *world.Comm) int {
	for m := range comm.Size() {
		if !world.Of(comm).Local(m) {
			return 10
		}
	}
	if unwatched() {
		return 10
	}
	return 375
}

func stressProgram(ctx context.Context, comm *world.Comm) error {
	return errors.Join(
		stress[int64](ctx, comm), stress[uint32](ctx, comm), stress[int16](ctx, comm), stress[uint8](ctx, comm),
		stress[float64](ctx, comm), stress[float32](ctx, comm), stress[complex64](ctx, comm), stress[complex128](ctx, comm))
}

type number interface {
	int64 | uint32 | int16 | uint8 | float64 | float32 | complex64 | complex128
}

// stress adds 1 to four elements of rank 0, to each in another way, all ranks at a time.
func stress[N number](ctx context.Context, comm *world.Comm) error {
	w, err := window.Allocate[N](ctx, comm, 4, flavour(nil)...)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(uint64(comm.Rank()), 7))
	for range stressTimes(comm) {
		if err := increment(ctx, w, random); err != nil {
			return err
		}
	}
	if err := w.Fence(ctx); err != nil {
		return err
	}
	got, want := make([]N, 4), N(0)
	if err := w.Get(0, 0, got); err != nil {
		return err
	}
	for range stressTimes(comm) * comm.Size() {
		want++
	}
	for i, v := range got {
		if v != want {
			return fmt.Errorf("%T: element %d counts %v, want %v", v, i, v, want)
		}
	}
	return w.Free(ctx)
}

func increment[N number](ctx context.Context, w *window.Window[N], random *rand.Rand) error {
	if err := w.LockAll(ctx); err != nil {
		return err
	}
	_, err := w.FetchAdd(0, 0, 1)
	err = errors.Join(err, w.Accumulate(0, 1, []N{1}, window.Sum), swapUp(w, 2), w.UnlockAll())
	if err != nil {
		return err
	}
	if random.IntN(4) == 0 { // give up waiting now and then
		impatient, cancel := context.WithCancelCause(ctx)
		cancel(errImpatient)
		err := w.Lock(impatient, 0, window.Exclusive)
		if err == nil {
			return errors.Join(putUp(w, 3), w.Unlock(0))
		}
		if !errors.Is(err, errImpatient) {
			return err
		}
	}
	if err := w.Lock(ctx, 0, window.Exclusive); err != nil {
		return err
	}
	return errors.Join(putUp(w, 3), w.Unlock(0))
}

// swapUp increments with CompareAndSwap.
func swapUp[N number](w *window.Window[N], disp int) error {
	for expect := N(0); ; {
		old, err := w.CompareAndSwap(0, disp, expect, expect+1)
		if err != nil || old == expect {
			return err
		}
		expect = old
	}
}

// putUp increments with Get and Put, which the lock makes atomic.
func putUp[N number](w *window.Window[N], disp int) error {
	v := make([]N, 1)
	if err := w.Get(0, disp, v); err != nil {
		return err
	}
	v[0]++
	return w.Put(0, disp, v)
}
