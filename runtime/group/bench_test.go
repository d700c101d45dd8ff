package group

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/golaunch/golaunch/internal/spawntest"
	"github.com/golaunch/golaunch/runtime/job"
)

// TestRoundTime prints what a round costs between processes, for
// docs/performance.md. It runs only when asked for.
func TestRoundTime(t *testing.T) {
	const batches, count = 51, 2000
	if rank, ok := spawntest.Rank(); ok {
		mem, err := job.Map(os.NewFile(spawntest.FirstFile, "job"))
		if err != nil {
			t.Fatal(err)
		}
		g := member(t, mem, rank)
		times := make([]time.Duration, batches)
		for b := range times {
			start := time.Now()
			for range count {
				g.Publish(1, nil)
				if err := g.WaitAll(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			times[b] = time.Since(start) / count
		}
		slices.Sort(times)
		if rank == 0 {
			fmt.Printf("%d ranks: a round takes %v at best, %v in the middle\n", g.Size(), times[0], times[batches/2])
		}
		return
	}
	if os.Getenv("GOLAUNCH_ROUND_TIME") == "" {
		t.Skip("prints figures: set GOLAUNCH_ROUND_TIME=1")
	}
	for _, n := range []int{1, 2, 4, 8, 16} {
		mem := memory(t, n, job.Options{Cores: 2})
		cmd := spawntest.Command(t, 0, nil, mem.File())
		cmd.Stdout = os.Stdout
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for rank := 1; rank < n; rank++ {
			c := spawntest.Command(t, rank, nil, mem.File())
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			defer c.Wait()
		}
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}
