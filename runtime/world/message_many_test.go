package world_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
)

// TestTenThousandReceivesPend has goroutines wait for messages over shared memory
// and over TCP at once. They hold no threads.
func TestTenThousandReceivesPend(t *testing.T) {
	const perSource, mostThreads = 5000, 20
	const near, far = 1, 2 // of rank 0: it shares memory with rank 1 only
	worldtest.RunHosts(t, 2, 2, func(ctx context.Context, comm *world.Comm) {
		switch comm.Rank() {
		case 0:
			before := threads(t)
			var all sync.WaitGroup
			posted := make(chan struct{}, 2*perSource)
			for tag := range perSource {
				for _, source := range []int{near, far} {
					all.Go(func() {
						posted <- struct{}{}
						if err := receiveTag(ctx, comm, source, tag); err != nil {
							t.Error(err)
						}
					})
				}
			}
			for range 2 * perSource {
				<-posted
			}
			// The message that lets the others send comes to a goroutine which waits
			// among the ten thousand.
			if err := receiveTag(ctx, comm, 3, perSource); err != nil {
				t.Error(err)
			}
			if n := threads(t); n >= mostThreads || n == 0 {
				t.Errorf("%d threads while ten thousand receives wait, %d before", n, before)
			} else {
				t.Logf("%d threads while ten thousand receives wait, %d before", n, before)
			}
			for _, source := range []int{near, far} {
				if err := world.Send(ctx, comm, source, perSource, []int32{0}); err != nil {
					t.Error(err)
				}
			}
			all.Wait()
		case near, far:
			if err := receiveTag(ctx, comm, 0, perSource); err != nil {
				t.Error(err)
				return
			}
			for tag := perSource - 1; tag >= 0; tag-- {
				if err := world.Send(ctx, comm, 0, tag, []int32{int32(tag)}); err != nil {
					t.Error(err)
					return
				}
			}
		case 3:
			if err := world.Send(ctx, comm, 0, perSource, []int32{perSource}); err != nil {
				t.Error(err)
			}
		}
	})
}

// receiveTag receives one element: the tag, or 0.
func receiveTag(ctx context.Context, comm *world.Comm, source, tag int) error {
	var buf [1]int32
	if _, err := world.Recv(ctx, comm, source, tag, buf[:]); err != nil {
		return err
	}
	if buf[0] != int32(tag) && buf[0] != 0 {
		return fmt.Errorf("tag %d from rank %d: got %d", tag, source, buf[0])
	}
	return nil
}

func threads(t *testing.T) int {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Error(err)
	}
	return len(tasks)
}
