package fivehosts

import (
	"slices"
	"strings"
	"testing"
)

// Two launches want slots that suffice for one: one gets them.
func TestTwoLaunchesRace(t *testing.T) {
	t.Parallel()
	const n = 12
	c := newCluster(t, "local")
	for range 3 {
		racers := []*running{
			c.begin(0, with("--stdin all -n 12", self(t, "hold")...)...),
			c.begin(3, with("--stdin all -n 12 --map-by host", self(t, "hold")...)...),
		}
		begun := make(chan int, len(racers)) // the racer whose ranks run; -1: one has ended
		for i, r := range racers {
			go func() {
				if _, err := r.stdout.Peek(1); err != nil {
					i = -1
				}
				begun <- i
			}()
		}
		first, second := <-begun, <-begun
		won := max(first, second)
		if won < 0 || min(first, second) >= 0 {
			t.Fatalf("launches %d and %d have begun, want that one has", first, second)
		}
		// Room for 8, or more while the winner had not reserved all of its hosts.
		if got := racers[1-won].wait(); got.code != 2 || !strings.Contains(got.stderr, "12 ranks cannot be placed, there is room for ") {
			t.Error(got)
		}
		racers[won].ready(n)
		sum := 0
		for _, free := range c.free(1) {
			sum += free
		}
		if free := c.free(1); sum != ranks-n || slices.Min(free) < 0 {
			t.Errorf("%v slots are free, want %d", free, ranks-n)
		}
		racers[won].end(n)
		c.quiet()
	}
}
