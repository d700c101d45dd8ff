package window_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/window"
)

// A rank killed while it holds locks, waits for them, or is in a Fence is an error for
// those who wait, not a hang, when the job is not stopped because of it. (Package lock kills
// at every step of its protocol.)
func TestKilledRank(t *testing.T) {
	for _, hosts := range layouts(3) {
		for seed := range 6 {
			out, err := launch(t, 3, "killed", append(onMachine(hosts), "--on-failure", "continue"), fmt.Sprintf("%s=%d", seedVariable, seed))
			if err == nil {
				t.Errorf("%d hosts, seed %d: golaunch reports success\n%s", hosts, seed, out)
			}
			for _, r := range []int{0, 2} {
				if !strings.Contains(out, fmt.Sprintf("rank %d got an error", r)) {
					t.Errorf("%d hosts, seed %d: rank %d has not ended with an error:\n%s", hosts, seed, r, out)
				}
			}
		}
	}
}

// killedProgram: rank 1 dies at one of six places; the others go on until they notice.
func killedProgram(ctx context.Context, comm *world.Comm) error {
	w, err := window.Allocate[int64](ctx, comm, 10, flavour(nil)...)
	if err != nil {
		return err
	}
	for turn := 0; ; turn++ {
		if err = killedTurn(ctx, w, comm.Rank(), turn); err != nil {
			break
		}
	}
	var failed *world.RankFailedError
	var broken *world.BrokenError
	if !errors.As(err, &failed) && !errors.As(err, &broken) {
		return err
	}
	fmt.Printf("rank %d got an error: %v\n", comm.Rank(), err)
	return nil
}

func killedTurn(ctx context.Context, w *window.Window[int64], me, turn int) error {
	die := func(place int) {
		if me == 1 && turn == 20 && place == variable(seedVariable) {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
	die(0)
	if err := w.Lock(ctx, 0, window.Exclusive); err != nil {
		return err
	}
	die(1)
	if err := errors.Join(w.Put(0, 0, []int64{1}), w.Unlock(0)); err != nil {
		return err
	}
	die(2)
	if err := w.LockAll(ctx); err != nil {
		return err
	}
	die(3)
	if err := w.UnlockAll(); err != nil {
		return err
	}
	die(4)
	if err := w.Fence(ctx); err != nil {
		return err
	}
	die(5)
	return nil
}
