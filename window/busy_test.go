package window_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/window"
)

// A target that computes and calls nothing is served all the same: its goroutine does not
// return from its loop before everything has been done to it.
func TestBusyTargetIsServed(t *testing.T) {
	for _, hosts := range layouts(2) {
		out, err := launch(t, 2, "busy", onMachine(hosts), procsVariable+"=2")
		if err != nil || !strings.Contains(out, "rank 1 was served") {
			t.Errorf("%d hosts: %v\n%s", hosts, err, out)
		}
	}
}

func busyProgram(ctx context.Context, comm *world.Comm) error {
	words, err := window.Allocate[int64](ctx, comm, 2, flavour(nil)...)
	if err != nil {
		return err
	}
	wide, err := window.Allocate[complex128](ctx, comm, 2, flavour(nil)...)
	if err != nil {
		return err
	}
	if comm.Rank() == 0 {
		err = serveYourself(ctx, words, wide)
	} else {
		err = compute(&words.Local()[0])
	}
	return errors.Join(err, words.Free(ctx), wide.Free(ctx))
}

// compute goes on until done is not 0.
func compute(done *int64) error {
	began, sum := time.Now(), uint64(1)
	for rounds := 0; atomic.LoadInt64(done) == 0; rounds++ {
		for range 1000 {
			sum = sum*6364136223846793005 + 1442695040888963407
		}
		if rounds%1000 == 0 && time.Since(began) > limit/2 {
			return errors.New("nobody has said that it is done")
		}
	}
	fmt.Println("rank 1 was served", sum != 0)
	return nil
}

// serveYourself does one of everything to rank 1, some times, and tells it at last.
func serveYourself(ctx context.Context, words *window.Window[int64], wide *window.Window[complex128]) error {
	one, got := []complex128{1}, []complex128{0}
	for range 20 {
		if err := errors.Join(wide.LockAll(ctx), wide.Accumulate(1, 0, one, window.Sum), wide.FlushAll(),
			wide.Put(1, 1, one), wide.Flush(1), wide.Get(1, 0, got), errorOf(wide.FetchAndOp(1, 0, 0, window.NoOp)), wide.UnlockAll(),
			words.Lock(ctx, 1, window.Exclusive), errorOf(words.FetchAdd(1, 1, 1)), words.Unlock(1)); err != nil {
			return err
		}
	}
	if got[0] != 20 {
		return fmt.Errorf("the sum is %v", got[0])
	}
	return errors.Join(words.Lock(ctx, 1, window.Shared), errorOf(words.FetchAndOp(1, 0, 1, window.Replace)), words.Unlock(1))
}
