package fivehosts

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// large is a program of 8 MB that no host has, and that does what a line says.
func large(t *testing.T, line string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "large")
	text := "#!/bin/sh\n# " + t.Name() + "\n" + line + "\nexit\n" + strings.Repeat("#", 8<<20)
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// A host is lost at one of the stages of a launch: it ends, and nothing is left, nor is the
// lost host's reservation soon after its last renewal.
func TestHostIsLostDuringLaunch(t *testing.T) {
	t.Parallel()
	for name, stage := range map[string]string{"programs are sent": "sending what 5 hosts lack", "hosts join": "who join at"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, "local")
			r := c.begin(0, with("-v -n 20", large(t, "exec sleep 1000"))...)
			r.says(stage)
			begin := time.Now()
			c.cut(4)
			got := r.wait()
			t.Logf("ended after %v", time.Since(begin).Round(time.Millisecond))
			if got.code != 1 {
				t.Error(got)
			}
			has(t, got.stdout, "host-4")
			c.heal(4)
			c.quiet()
			c.meetAgain(0)
		})
	}
}

// An agent that does not answer while programs are sent delays the launch.
func TestSlowHost(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "local")
	r := c.begin(0, with("-v -n 20 --failure-timeout 50", large(t, "echo done"))...)
	r.says("sending what 5 hosts lack")
	c.signal(4, syscall.SIGSTOP)
	c.await("that it does not answer", func() bool {
		nodes := c.nodes(0)
		return len(nodes) == hosts && nodes[4].Host == nil
	})
	c.signal(4, syscall.SIGCONT)
	if got := r.wait(); got.code != 0 || strings.Count(got.stdout, "done\n") != ranks {
		t.Error(got)
	}
	c.whole()
	c.quiet()
}

// An agent that does not answer when ranks are placed gets none.
func TestSilentHost(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "local")
	c.signal(2, syscall.SIGSTOP)
	out := c.succeed(0, with("-n 16", "sh", "-c", "echo $GOLAUNCH_HOST")...)
	if strings.Contains(out, "host-2") {
		t.Error(out)
	}
	if got := c.launch(0, with("-n 17", "true")...); got.code != 2 || !strings.Contains(got.stderr, "there is room for 16") {
		t.Error(got)
	}
	c.signal(2, syscall.SIGCONT)
	c.whole()
	c.meet(0)
	c.quiet()
}
