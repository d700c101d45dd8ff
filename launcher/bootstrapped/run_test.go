package bootstrapped

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A manager is a way to start ranks. command returns one that starts n of program,
// with its flags in front.
type manager struct {
	name    string
	command func(t *testing.T, n int, flags []string, program ...string) *exec.Cmd
	env     []string
}

// managers are the ways that are tested: each process manager with each version of
// PMI, and over a port.
var managers = []manager{
	{"hydra, PMI-1", hydra, nil},
	{"hydra, PMI-2", hydra, []string{"GOLAUNCH_PMI=2"}},
	{"hydra, PMI-1 over a port", hydraPort, nil},
	{"slurm, PMI-2", slurm, nil},
	{"slurm, PMI-1", slurm, []string{"GOLAUNCH_PMI=1"}},
}

// everywhere runs a test under each manager.
func everywhere(t *testing.T, test func(t *testing.T, m manager)) {
	for _, m := range managers {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			test(t, m)
		})
	}
}

// killedBySignal is the code of a process manager that a signal has ended.
const killedBySignal = -1

// A result is how a job ended.
type result struct {
	code           int
	stdout, stderr string
	took           time.Duration
}

func (r result) String() string {
	return fmt.Sprintf("code %d after %v\n%s%s", r.code, r.took, tail(r.stdout), tail(r.stderr))
}

// tail is the end of a long text.
func tail(text string) string {
	const most = 6000
	if len(text) > most {
		return "...\n" + text[len(text)-most:]
	}
	return text
}

// run runs n ranks of a program to their end.
func (m manager) run(t *testing.T, n int, flags []string, program ...string) result {
	t.Helper()
	return m.start(t, n, flags, program...).wait()
}

// role runs n ranks in a role.
func (m manager) role(t *testing.T, n int, role string, flags ...string) result {
	t.Helper()
	m.env = append(m.env[:len(m.env):len(m.env)], envRole+"="+role)
	return m.run(t, n, flags, self(t))
}

// A running is a job that has not ended.
type running struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr output
	done           chan error
	begin          time.Time
}

func (m manager) start(t *testing.T, n int, flags []string, program ...string) *running {
	t.Helper()
	cmd := m.command(t, n, flags, program...)
	cmd.Env = slices.Concat(os.Environ(), cmd.Env, m.env, []string{"GORACE=atexit_sleep_ms=0", fmt.Sprintf("%s=%s-%d", envMark, t.Name(), n)})
	return launch(t, cmd, cmd.Start)
}

func launch(t *testing.T, cmd *exec.Cmd, start func() error) *running {
	t.Helper()
	r := &running{t: t, cmd: cmd, done: make(chan error, 1), begin: time.Now()}
	r.stdout.news, r.stderr.news = make(chan struct{}, 1), make(chan struct{}, 1)
	cmd.Stdout, cmd.Stderr = &r.stdout, &r.stderr
	if err := start(); err != nil {
		t.Fatal(err)
	}
	go func() { r.done <- cmd.Wait() }()
	return r
}

// wait waits for the end, and that no helper is left.
func (r *running) wait() result {
	r.t.Helper()
	select {
	case <-r.done:
	case <-time.After(deadline):
		r.cmd.Process.Kill()
		<-r.done
		r.t.Errorf("the job has not ended after %v", deadline)
	}
	got := result{r.cmd.ProcessState.ExitCode(), r.stdout.String(), r.stderr.String(), time.Since(r.begin)}
	noHelper(r.t, r.cmd.Env)
	return got
}

// envMark is a variable that only one job's processes have, and their helpers.
const envMark = "GOLAUNCH_TEST_JOB"

// noHelper checks that the helpers of a job, whose environment has a variable of its
// own, end.
func noHelper(t *testing.T, env []string) {
	t.Helper()
	var own string
	for _, v := range env {
		if strings.HasPrefix(v, envMark+"=") {
			own = v
		}
	}
	if own == "" {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	for _, dir := range processes() {
		text, err := os.ReadFile(dir + "/environ")
		if err != nil || !bytes.Contains(text, []byte(own+"\x00")) {
			continue
		}
		if err := ended(ctx, dir); err != nil {
			line, _ := os.ReadFile(dir + "/cmdline")
			t.Errorf("process %s (%s) is left: %v", filepath.Base(dir), bytes.ReplaceAll(line, []byte{0}, []byte{' '}), err)
		}
	}
}

func processes() []string {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil { // only for a bad pattern
		panic(err)
	}
	return dirs
}

// ended waits for the end of a process.
func ended(ctx context.Context, dir string) error {
	var pid int
	if _, err := fmt.Sscanf(dir, "/proc/%d", &pid); err != nil {
		return err
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil // it has ended
	}
	defer unix.Close(fd)
	for ctx.Err() == nil {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 100)
		if n > 0 {
			return nil
		}
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
	}
	return ctx.Err()
}
