package crosshost

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/golaunch/golaunch/launcher/internal/netns"
)

// ranAs is what worldtest.Anywhere logs for each body.
var ranAs = regexp.MustCompile(`(?m)^\[(\d+)\] .*worldtest: rank \d+ of \d+, of a job on (\d+)$`)

// bodies is how many bodies of a room's tests must at least have run on rank 0 of a
// job of 3 ranks: were they left out, the tests would pass as well.
var bodies = map[string]int{"runtime/world": 200, "window": 40, "collectives": 30}

// The tests of the rooms that ranks see, which hold between goroutines, hold between
// processes on three hosts, with one rank on each and with two.
func TestConformance(t *testing.T) {
	t.Parallel()
	for room, least := range bodies {
		for _, n := range []int{3, 6} {
			t.Run(fmt.Sprintf("%s on %d ranks", room, n), func(t *testing.T) {
				t.Parallel()
				c := newCluster(t, 3, netns.Options{})
				c.limit *= 3 // a room's tests are many jobs
				c.conform(room, n, least)
			})
		}
	}
}

// conform runs a room's tests.
func (c *cluster) conform(room string, n, least int, flags ...string) {
	c.t.Helper()
	args := append(flags, "-n", fmt.Sprint(n), "--tag-output", binary(c.t, filepath.Base(room)+".test"), "-test.v", fmt.Sprint("-test.timeout=", c.limit*9/10))
	got := c.start(args...).wait()
	count := make([]int, n)
	for _, m := range ranAs.FindAllStringSubmatch(got.stdout, -1) {
		if rank, err := strconv.Atoi(m[1]); err == nil && rank < n {
			count[rank]++
		}
	}
	if got.code != 0 || strings.Contains(got.stdout, "FAIL") || count[0] < least || count[2] == 0 {
		got.stdout, got.stderr = eventful(got.stdout), eventful(got.stderr)
		c.t.Errorf("bodies that ran, by rank: %v, want %d: %s", count, least, got)
	}
	c.t.Logf("bodies that ran, by rank: %v", count)
}

// uneventful are the lines of tests that pass.
var uneventful = regexp.MustCompile(`^\[\d+\] +(=== (RUN|CONT|PAUSE|NAME)|--- (PASS|SKIP)|\S+:\d+: worldtest:)`)

// eventful is what is of interest in the output of tests: no tests that pass, and no
// goroutines.
func eventful(output string) string {
	var b strings.Builder
	traces := make(map[string]bool) // ranks whose traces have begun
	for line := range strings.Lines(output) {
		rank, rest, _ := strings.Cut(line, " ")
		traces[rank] = traces[rank] || strings.HasPrefix(rank, "[") && strings.HasPrefix(rest, "goroutine ")
		if !traces[rank] && !uneventful.MatchString(line) {
			b.WriteString(line)
		}
	}
	return b.String()
}
