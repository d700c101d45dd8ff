package fivehosts

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A running is a golaunch that was started on a host.
type running struct {
	c      *cluster
	cmd    *exec.Cmd
	began  time.Time
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr bytes.Buffer
}

// begin starts golaunch on a host.
func (c *cluster) begin(i int, args ...string) *running {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), deadline)
	c.t.Cleanup(cancel)
	r := &running{c: c, cmd: c.command(ctx, i, args...)}
	r.cmd.Stderr = &r.stderr
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if slices.Contains(args, "-v") {
		r.cmd.Stderr = r.cmd.Stdout // for says
	}
	if r.stdin, err = r.cmd.StdinPipe(); err != nil {
		c.t.Fatal(err)
	}
	r.stdout, r.began = bufio.NewReader(out), time.Now()
	if err := c.Hosts[i].Start(r.cmd); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { r.cmd.Process.Kill(); r.cmd.Wait() })
	return r
}

// launch runs golaunch on a host to its end; its stdin is empty.
func (c *cluster) launch(i int, args ...string) result {
	c.t.Helper()
	r := c.begin(i, args...)
	r.stdin.Close()
	return r.wait()
}

// succeed runs a golaunch that must end well, and returns what it has printed.
func (c *cluster) succeed(i int, args ...string) string {
	c.t.Helper()
	got := c.launch(i, args...)
	if got.code != 0 {
		c.t.Errorf("golaunch %s: %v", strings.Join(args, " "), got)
	}
	return got.stdout
}

// A result is how golaunch ended.
type result struct {
	code           int
	stdout, stderr string
}

func (r result) String() string {
	return fmt.Sprintf("code %d\n%s%s", r.code, tail(r.stdout), tail(r.stderr))
}

// wait waits for golaunch's end.
func (r *running) wait() result {
	r.c.t.Helper()
	out, _ := io.ReadAll(r.stdout)
	r.cmd.Wait()
	return result{r.cmd.ProcessState.ExitCode(), string(out), r.stderr.String()}
}

// ready waits until so many ranks have said that they are, and returns their
// processes, by rank.
func (r *running) ready(n int) map[int]int {
	r.c.t.Helper()
	pids := map[int]int{}
	for range n {
		line, err := r.stdout.ReadString('\n')
		var rank, pid int
		if _, scanErr := fmt.Sscanf(line, "ready %d %d", &rank, &pid); err != nil || scanErr != nil {
			r.cmd.Process.Kill()
			r.cmd.Wait()
			r.c.t.Fatalf("%d ranks of %d are ready, and then %q, %v\n%s", len(pids), n, line, err, r.stderr.String())
		}
		pids[rank] = pid
	}
	return pids
}

// says waits for a line that contains a text, of a golaunch with -v.
func (r *running) says(text string) {
	r.c.t.Helper()
	var before strings.Builder
	for {
		line, err := r.stdout.ReadString('\n')
		before.WriteString(line)
		switch {
		case strings.Contains(line, text):
			return
		case err != nil:
			r.c.t.Fatalf("golaunch does not say %q: %v\n%s", text, err, before.String())
		}
	}
}

// stays is a rank that says that it is ready, has a descendant in a session of its own,
// and stays.
var stays = []string{"sh", "-c", `setsid sleep 1000 & echo ready $GOLAUNCH_RANK $$; sleep 1000`}

// with is golaunch's arguments: flags, and a program with its own.
func with(flags string, program ...string) []string { return append(strings.Fields(flags), program...) }

// hold starts a job whose ranks wait for the end of their stdin.
func (c *cluster) hold(i, n int, flags string) *running {
	c.t.Helper()
	r := c.begin(i, with("--stdin all "+flags, self(c.t, "hold")...)...)
	r.ready(n)
	return r
}

// end ends such a job, and checks that all ranks meet.
func (r *running) end(n int) {
	r.c.t.Helper()
	r.stdin.Close()
	if got := r.wait(); got.code != 0 || strings.Count(got.stdout, "met again\n") != n {
		r.c.t.Error(got)
	}
}
