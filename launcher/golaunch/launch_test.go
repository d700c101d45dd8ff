package main

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// sends starts a job on two hosts, b lacks whose file, and returns when that is being
// sent.
func (c *cluster) sends(flags string) (*running, *network) {
	c.t.Helper()
	file := filepath.Join(c.t.TempDir(), "large")
	text := make([]byte, 64<<20)
	rand.Read(text)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		c.t.Fatal(err)
	}
	cmd := c.golaunch(0, with(flags+" -v -n 2 --file "+file, sh("true")...)...)
	stderr := &lineReader{seen: make(chan string, 10_000)}
	cmd.Stderr = stderr
	r := startCommand(c.t, cmd)
	n := &network{t: c.t, front: r, stderr: stderr}
	n.says("sending what ")
	return r, n
}

// An agent falls silent while files are sent: the launch ends in time, and the other
// host's slots are free at once; its own are when it runs again, which nobody has told.
func TestHostIsLostWhileFilesAreSent(t *testing.T) {
	t.Parallel()
	const timeout = 2 * time.Second
	c := newCluster(t, 1, 1)
	_, n := c.sends("--failure-timeout 2")
	c.agents[1].signal(syscall.SIGSTOP)
	defer c.agents[1].signal(syscall.SIGCONT)
	begin := time.Now()
	n.says("golaunch: host") // b has not answered, or not joined, if all is sent already
	n.ends(1)
	if took := time.Since(begin); took > timeout+time.Second { // it may have been busy
		t.Errorf("it has ended after %v", took)
	}
	c.agents[1].signal(syscall.SIGCONT)
	free := time.Now()
	c.quiet()
	if took := time.Since(free); took > 2*timeout {
		t.Errorf("slots were free after %v", took)
	}
}
