package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func host(t *testing.T) string {
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// A running is a golaunch that was started.
type running struct {
	t      *testing.T
	cmd    *exec.Cmd
	pipe   io.Closer // of stdout
	stdout *bufio.Reader
	stdin  io.WriteCloser
	stderr bytes.Buffer
}

func start(t *testing.T, args ...string) *running {
	t.Helper()
	return startCommand(t, golaunch(t, args...))
}

func startCommand(t *testing.T, cmd *exec.Cmd) *running {
	t.Helper()
	r := &running{t: t, cmd: cmd}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if r.stdin, err = r.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	r.pipe = out
	r.stdout = bufio.NewReader(out)
	if cmd.Stderr == nil {
		cmd.Stderr = &r.stderr
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.cmd.Process.Kill(); r.cmd.Wait() })
	return r
}

// lines waits for n lines of stdout that are all the same.
func (r *running) lines(n int, want string) {
	r.t.Helper()
	for range n {
		line, err := r.stdout.ReadString('\n')
		if line != want+"\n" {
			r.t.Fatalf("%q, %v, want %q; stderr: %s", line, err, want, r.stderr.String())
		}
	}
}

func (r *running) signal(sig os.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(sig); err != nil {
		r.t.Fatal(err)
	}
}

// wait waits for golaunch's end.
func (r *running) wait() result {
	r.t.Helper()
	rest := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(r.stdout)
		rest <- string(b)
	}()
	var out string
	select {
	case out = <-rest:
	case <-time.After(deadline):
		r.t.Fatal("golaunch does not end")
	}
	r.cmd.Wait()
	return result{r.cmd.ProcessState.ExitCode(), out, r.stderr.String()}
}

func count(text, part string) int { return strings.Count(text, part) }

// newFifo returns a fifo through which ranks can tell the test something past
// golaunch.
func newFifo(t *testing.T) *os.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0) // to write, too, so that it has no end
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
