package crosshost

import (
	"strings"
	"testing"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/netns"
)

const (
	// silence is the failure timeout of these tests. That of users is 10 s.
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
	for _, by := range cuts[2:] { // the others differ for ranks only, below
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
				if i < 2 && h.code != 0 {
					t.Errorf("%s: code %d, want 0: the job has had its end\n%s", c.Hosts[i].Name, h.code, h.said)
				}
			}
			if last := got.hosts[2]; last.code == 0 || by.sees && last.code != 1 {
				t.Errorf("host-2: code %d\n%s", last.code, last.said)
			}
		})
	}
}

// Every rank that lives gets a RankFailedError in time, on both sides of the cut,
// whether it talks to the host that is lost or waits for it in silence.
func TestRanksLearnOfALostHost(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"busy", "quiet"} {
		for _, by := range cuts {
			t.Run(role+", "+by.name, func(t *testing.T) {
				t.Parallel()
				learn(t, role, by)
			})
		}
	}
}

func learn(t *testing.T, role string, by cut) {
	c := newCluster(t, 3, netns.Options{})
	args := append(self(t, role), c.dir)
	r := c.start(append([]string{"--failure-timeout", silence.String(), "--on-failure", "continue", "-n", "6"}, args...)...)
	r.await(6, "ready")
	begin := time.Now()
	if err := by.make(r, c.Hosts[2]); err != nil {
		t.Fatal(err)
	}
	got := r.wait()
	if got.took > silence+slack || got.code == 0 {
		t.Errorf("it took %v: %s", got.took, got)
	}
	for rank := range 6 {
		b, err := readBequest(c.dir, rank)
		switch lost := rank >= 4; {
		case err != nil:
			if !lost || by.sees {
				t.Errorf("rank %d: %v\n%s", rank, err, got)
			}
		case b.failed < 0:
			t.Errorf("rank %d got %q, want a RankFailedError", rank, b.text)
		case b.at.Sub(begin) > silence+time.Second:
			t.Errorf("rank %d learned of it after %v", rank, b.at.Sub(begin))
		default:
			t.Logf("rank %d after %v: %s", rank, b.at.Sub(begin), b.text)
		}
	}
}

// Without golaunch on the first host nobody is in charge: every other host stops its
// ranks, whatever has become of golaunch.
func TestFrontIsLost(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*running) error{
		"unplugged": func(r *running) error { return r.c.Hosts[0].Unplug() },
		"killed":    func(r *running) error { return r.front.Process.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, 3, netns.Options{})
			r := c.start("--failure-timeout", silence.String(), "-n", "3", "sh", "-c", "echo ready; sleep 1000")
			r.await(3, "ready")
			if err := lose(r); err != nil {
				t.Fatal(err)
			}
			got := r.wait()
			if got.code == 0 || got.took > silence+slack {
				t.Errorf("after %v: %s", got.took, got)
			}
			for i, h := range got.hosts[1:] {
				if h.code != 1 || !strings.Contains(h.said, "golaunch: supervise: the front at ") {
					t.Errorf("host %d: code %d, said %q", i+1, h.code, h.said)
				}
			}
		})
	}
}
