package fivehosts

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// holding is what a process holds.
type holding struct {
	files    int
	resident int // KiB
}

func holdingOf(t *testing.T, pid int) (h holding) {
	t.Helper()
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	if _, err := fmt.Sscan(rest, &h.resident); err != nil {
		t.Fatal(err)
	}
	h.files = len(fds)
	return h
}

// What agents hold does not grow with the number of jobs, and nothing is left of those.
func TestManyLaunches(t *testing.T) {
	t.Parallel()
	launches := 20
	if os.Getenv("GOLAUNCH_SOAK") != "" {
		launches = 200
	}
	c := newCluster(t, "local")
	launch := func(n int) (list []holding) {
		for i := range n {
			c.succeed(i%hosts, with("-n 20", "true")...)
		}
		c.quiet()
		for _, a := range c.agents {
			list = append(list, holdingOf(t, a.Process.Pid))
		}
		return list
	}
	before := launch(hosts)
	after := launch(launches)
	const (
		files = 16       // connections that are kept for a while: two each way with each
		grown = 10 << 10 // KiB
	)
	for i, b := range before {
		a := after[i]
		t.Logf("%s: %d files, then %d; %d KiB, then %d", c.Hosts[i].Name, b.files, a.files, b.resident, a.resident)
		if a.files > b.files+files || a.resident > b.resident+grown {
			t.Errorf("%s holds more after %d launches", c.Hosts[i].Name, launches)
		}
	}
}
