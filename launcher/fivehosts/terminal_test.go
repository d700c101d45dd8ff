package fivehosts

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Ranks that do not end when they are asked to have no choice.
func TestGolaunchIsKilled(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "local")
	r := c.begin(0, with("-n 20", "sh", "-c", `trap "" HUP TERM; `+stays[2])...)
	r.ready(ranks)
	begin := time.Now()
	r.cmd.Process.Kill()
	r.wait()
	c.quiet()
	t.Logf("nothing is left on any host after %v", time.Since(begin).Round(time.Millisecond))
}

// A terminal vanishes, and with it its job; one that is detached stays.
func TestTerminalVanishes(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "local")
	term, in := c.onTerminal(0, with("-n 20", stays...)...)
	for range ranks {
		if line, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(line, "ready ") {
			t.Fatal(line, err)
		}
	}
	term.Close()
	c.quiet()

	term, in = c.onTerminal(0, with("--detach -n 20", stays...)...)
	name, err := in.ReadString('\n')
	if name = strings.TrimSpace(name); err != nil || len(name) != 8 {
		t.Fatal(name, err)
	}
	term.Close()
	c.await("all ranks' output", func() bool { return strings.Count(c.succeed(1, "logs", name), "ready ") == ranks })
	if job := c.theJob(2, hosts); job.Name != name || !job.Front.Detached {
		t.Errorf("%+v", job)
	}
	c.succeed(3, "kill", name)
	c.quiet()
	has(t, c.succeed(4, "logs", name), "interrupted by SIGTERM")
}

// onTerminal starts golaunch on a host, with a terminal of its own.
func (c *cluster) onTerminal(i int, args ...string) (master *os.File, in *bufio.Reader) {
	c.t.Helper()
	master, slave, err := openTerminal()
	if err != nil {
		c.t.Fatal(err)
	}
	defer slave.Close()
	ctx, cancel := context.WithTimeout(c.t.Context(), deadline)
	cmd := c.command(ctx, i, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Hosts[i].Start(cmd); err != nil {
		c.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	c.t.Cleanup(func() { cancel(); <-ended; master.Close() })
	return master, bufio.NewReader(master)
}

// openTerminal opens both ends of a new pseudo-terminal.
func openTerminal() (master, slave *os.File, err error) {
	if master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		master.Close()
	}
	return master, slave, err
}
