package crosshost

import (
	"strings"
	"testing"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/netns"
)

const (
	// silence is the failure timeout of these tests, half the hosts' of users.
	silence = 2 * time.Second
	// slack is what may pass beyond that until everything has ended: ranks that are
	// cut off have 2 s to save what they have.
	slack = 4 * time.Second
)

// A cut takes a host away from the others.
type cut struct {
	name string
	make func(*running, *netns.Host) error
	sees bool // the host lives, and sees that it has lost the others
}

var cuts = []cut{
	{"unplugged", func(_ *running, h *netns.Host) error { return h.Unplug() }, true},
	{"off", func(_ *running, h *netns.Host) error { return h.Down() }, true},
	{"isolated", func(_ *running, h *netns.Host) error { return h.Isolate() }, true},
	{"supervisor killed", func(r *running, h *netns.Host) error { return r.killSupervisor(h, "golaunch-supervisor") }, false},
	{"guardian killed", func(r *running, h *netns.Host) error { return r.killSupervisor(h, "golaunch supervise") }, false},
}

// killSupervisor kills the process on a host whose command line contains a text.
func (r *running) killSupervisor(h *netns.Host, text string) error {
	r.c.t.Helper()
	for _, p := range h.Processes() {
		if strings.Contains(p.Command, text) {
			kill(r.c.t, p.PID)
			return nil
		}
	}
	r.c.t.Fatalf("no %s on %s: %v", text, h.Name, h.Processes())
	return nil
}

// Ranks that never join have no peers to hear it from: golaunch ends the job.
func TestHostIsLost(t *testing.T) {
	t.Parallel()
	for _, by := range cuts {
		t.Run(by.name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, 3, netns.Options{})
			r := c.start("--failure-timeout", silence.String(), "-n", "3", "sh", "-c", "echo ready; sleep 1000")
			r.await(3, "ready")
			if err := by.make(r, c.Hosts[2]); err != nil {
				t.Fatal(err)
			}
			got := r.wait()
			if got.took > silence+slack {
				t.Errorf("it took %v", got.took)
			}
			if got.code != 1 || !strings.Contains(got.stderr, "host-2") {
				t.Errorf("%s\nwant code 1, and that host-2 was lost", got)
			}
			for i, h := range got.hosts {
				if want := 0; i < 2 && h.code != want {
					t.Errorf("%s: code %d, want %d: the job has had its end\n%s", c.Hosts[i].Name, h.code, want, h.said)
				}
			}
			if last := got.hosts[2]; last.code == 0 || by.sees && last.code != 1 {
				t.Errorf("host-2: code %d\n%s", last.code, last.said)
			}
			t.Logf("%v, %s", got.took, got)
		})
	}
}
