package fivehosts

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/netns"
)

// learn starts a job whose ranks wait, and returns their processes.
func (c *cluster) learn(dir, flags string) (*running, map[int]int) {
	c.t.Helper()
	r := c.begin(0, with("--on-failure continue -n 20 "+flags, self(c.t, "learn", dir)...)...)
	return r, r.ready(ranks)
}

// lesson checks that the first ranks have learned of the loss of a later one, and
// returns how long the slowest has needed.
func lesson(t *testing.T, dir string, begin time.Time, survivors int) (slowest time.Duration) {
	t.Helper()
	for rank := range survivors {
		switch b, err := readBequest(dir, rank); {
		case err != nil:
			t.Errorf("rank %d: %v", rank, err)
		case b.failed < survivors:
			t.Errorf("rank %d got %q, want that a rank from %d on has failed", rank, b.text, survivors)
		case rank < ranks-slots && b.host != "host-4":
			t.Errorf("rank %d got %q, want that it names host-4", rank, b.text)
		default:
			slowest = max(slowest, b.at.Sub(begin))
		}
	}
	return slowest
}

func TestRankDies(t *testing.T) {
	c := newCluster(t, "local")
	dir := t.TempDir()
	r, pids := c.learn(dir, "")
	begin := time.Now()
	if err := syscall.Kill(pids[ranks-1], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	got := r.wait()
	within(t, "a rank's death is known to 19 others", lesson(t, dir, begin, ranks-1), 200*time.Millisecond)
	if got.code != 128+int(syscall.SIGKILL) {
		t.Error(got)
	}
	has(t, got.stderr, "rank 19 (host-4, ")
	c.quiet()
}

// Every rank learns of the loss of another host, and on the lost host nobody survives,
// although nobody can tell it anything.
func TestHostIsLost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		profile  string
		cut      func(*netns.Host) error
		promised time.Duration
	}{
		{"local", (*netns.Host).Unplug, 3 * time.Second},
		{"local", (*netns.Host).Isolate, 3 * time.Second},
		{"lan", (*netns.Host).Unplug, 12 * time.Second},
	} {
		t.Run(tt.profile, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, tt.profile)
			dir := t.TempDir()
			r, _ := c.learn(dir, "")
			begin, lost := time.Now(), c.Hosts[hosts-1]
			if err := tt.cut(lost); err != nil {
				t.Fatal(err)
			}
			got := r.wait()
			within(t, "a host's loss is known to 16 ranks", lesson(t, dir, begin, ranks-slots), tt.promised)
			if got.code != 1 {
				t.Error(got)
			}
			has(t, got.stderr, "host-4", "was lost with its host")
			c.await("the end of all on the lost host", func() bool { return len(lost.Processes()) == 1 })
			t.Logf("nothing is left on the lost host after %v", time.Since(begin).Round(time.Millisecond))
			if tt.profile == "local" { // others take half a minute to call whom they have lost
				c.heal(hosts - 1)
				c.quiet()
				c.meetAgain(0)
			}
		})
	}
}

// cut has the network drop what comes from hosts or goes there.
func (c *cluster) cut(which ...int) {
	c.t.Helper()
	for _, i := range which {
		if err := c.Hosts[i].Isolate(); err != nil {
			c.t.Fatal(err)
		}
	}
}

// heal ends that, and whatever else keeps hosts from the network.
func (c *cluster) heal(which ...int) {
	c.t.Helper()
	for _, i := range which {
		if err := c.Hosts[i].Rejoin(); err != nil {
			c.t.Fatal(err)
		}
	}
	c.whole()
}

// dead waits until a host's agent believes that others are.
func (c *cluster) dead(i int, others ...int) {
	c.t.Helper()
	c.await("the news of a death", func() bool {
		states := c.states(i)
		return len(states) == hosts && !slices.ContainsFunc(others, func(o int) bool { return states[o] != "dead" })
	})
}

func TestPartitionBetweenJobs(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "local")
	c.meet(0)
	c.cut(3, 4)
	c.dead(0, 3, 4)
	c.dead(4, 0, 1, 2, 3)
	has(t, c.succeed(0, with("-n 12", "sh", "-c", "echo $GOLAUNCH_HOST")...), "host-0", "host-1", "host-2")
	if got := c.launch(0, with("-n 13", "true")...); got.code != 2 || !strings.Contains(got.stderr, "there is room for 12") {
		t.Error(got)
	}
	has(t, c.succeed(4, with("-n 4", "sh", "-c", "echo $GOLAUNCH_HOST")...), "host-4\nhost-4\nhost-4\nhost-4\n")
	c.heal(3, 4)
	c.meetAgain(3)
	c.quiet()
}

// Gossip takes a host for dead, and jobs go on: one that has nothing there, and one that
// is patient enough.
func TestPartitionDuringAJob(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "local")
	for _, job := range []struct {
		ranks int
		flags string
	}{{ranks - slots, "-n 16"}, {ranks, "-n 20 --failure-timeout 50"}} {
		r := c.hold(0, job.ranks, job.flags)
		c.cut(4)
		c.dead(0, 4)
		c.heal(4)
		r.end(job.ranks)
		c.quiet()
	}
}
