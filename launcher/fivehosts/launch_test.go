package fivehosts

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var met = regexp.MustCompile(`(?m)^met (\d+)$`)

// meet runs a job in which all ranks meet, and returns how long that has taken from
// golaunch's start on.
func (c *cluster) meet(i int, flags ...string) time.Duration {
	c.t.Helper()
	r := c.begin(i, append(append(flags, "-n", fmt.Sprint(ranks)), self(c.t, "meet")...)...)
	r.stdin.Close()
	got := r.wait()
	all := met.FindAllStringSubmatch(got.stdout, -1)
	if got.code != 0 || len(all) != ranks {
		c.t.Fatalf("%d of %d ranks have met: %v", len(all), ranks, got)
	}
	var last int64
	for _, m := range all {
		at, _ := strconv.ParseInt(m[1], 10, 64)
		last = max(last, at)
	}
	return time.Unix(0, last).Sub(r.began)
}

// meetAgain is for after a partition: who was cut off suspects the others, may have one
// taken for dead when it is back, and that one has to refute it. A launch at that moment
// finds no room.
func (c *cluster) meetAgain(i int) {
	c.t.Helper()
	c.await("room for all ranks", func() bool {
		r := c.begin(i, append([]string{"-n", fmt.Sprint(ranks)}, self(c.t, "meet")...)...)
		r.stdin.Close()
		got := r.wait()
		if got.code != 0 && !strings.Contains(got.stderr, "cannot be placed") {
			c.t.Fatal(got)
		}
		return got.code == 0
	})
}

func TestLaunch(t *testing.T) {
	c := newCluster(t, "local")
	t.Logf("20 ranks on 5 hosts, first barrier, the binary is sent: %v", c.meet(0).Round(time.Millisecond))
	fastest := time.Hour
	for i := range hosts {
		fastest = min(fastest, c.meet(i))
	}
	within(t, "20 ranks on 5 hosts, first barrier, the binary is cached", fastest, 500*time.Millisecond)
	c.quiet()
}
