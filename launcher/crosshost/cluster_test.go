package crosshost

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/internal/netns"
)

// A cluster is hosts, and a directory that they share.
type cluster struct {
	*netns.Network
	t   *testing.T
	dir string
	key string

	limit time.Duration // of a job
}

func newCluster(t *testing.T, hosts int, o netns.Options) *cluster {
	t.Helper()
	c := &cluster{Network: netns.New(t, hosts, o), t: t, dir: t.TempDir(), limit: deadline}
	c.key = filepath.Join(c.dir, "job.key")
	if err := os.WriteFile(c.key, []byte("a key that is long enough to be one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(c.temp(), 0o700); err != nil {
		t.Fatal(err)
	}
	for i, h := range c.Hosts {
		if err := h.Do(func() error { return giveCore(i) }); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// giveCore gives the calling thread, and with it what it starts, one of this
// machine's cores in turn: hosts that think that all of them were theirs would poll
// against each other.
func giveCore(i int) error {
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return err
	}
	skip := i % all.Count()
	for cpu := range len(all) * 64 {
		if !all.IsSet(cpu) {
			continue
		}
		if skip--; skip < 0 {
			one.Set(cpu)
			break
		}
	}
	return unix.SchedSetaffinity(0, &one)
}

// temp is where golaunch's temporary files go.
func (c *cluster) temp() string { return filepath.Join(c.dir, "tmp") }

// A running is a job: golaunch on the first host, and a supervisor on each.
type running struct {
	c           *cluster
	front       *exec.Cmd
	stdout      *bufio.Reader
	stderr      bytes.Buffer
	supervisors []*supervisor
}

// A supervisor is golaunch supervise on one host.
type supervisor struct {
	*exec.Cmd
	said bytes.Buffer
}

// start starts a job with golaunch's own arguments.
func (c *cluster) start(args ...string) *running {
	c.t.Helper()
	golaunch := binary(c.t, "golaunch")
	ctx, cancel := context.WithTimeout(c.t.Context(), c.limit)
	c.t.Cleanup(cancel)
	at := netip.AddrPortFrom(c.Hosts[0].Addr(), 4711).String() // nobody else is in there
	r := &running{c: c}
	r.front = exec.CommandContext(ctx, golaunch, slices.Concat([]string{
		"--listen", at, "--hosts", strconv.Itoa(len(c.Hosts)), "--secret-file", c.key}, args)...)
	out, err := r.front.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	r.stdout, r.front.Stderr = bufio.NewReader(out), &r.stderr
	r.launch(c.Hosts[0], r.front)
	for _, h := range c.Hosts {
		s := &supervisor{Cmd: exec.CommandContext(ctx, golaunch, "supervise", "--join", at, "--secret-file", c.key, "--host", h.Name)}
		s.Stdout, s.Stderr = &s.said, &s.said
		r.launch(h, s.Cmd)
		r.supervisors = append(r.supervisors, s)
	}
	return r
}

func (r *running) launch(h *netns.Host, cmd *exec.Cmd) {
	r.c.t.Helper()
	cmd.Env = append(os.Environ(), "TMPDIR="+r.c.temp(), "GORACE=atexit_sleep_ms=0")
	cmd.Dir = r.c.dir
	if err := h.Start(cmd); err != nil {
		r.c.t.Fatal(err)
	}
	r.c.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
}

// await waits for n lines of the job's output that contain a text.
func (r *running) await(n int, text string) {
	r.c.t.Helper()
	var before strings.Builder
	for n > 0 {
		line, err := r.stdout.ReadString('\n')
		before.WriteString(line)
		if err != nil {
			r.front.Wait()
			r.c.t.Fatalf("%d more lines of %q: %v\n%s%s", n, text, err, before.String(), r.stderr.String())
		}
		if strings.Contains(line, text) {
			n--
		}
	}
}

// A result is how a job ended.
type result struct {
	code           int
	stdout, stderr string
	hosts          []hostResult
	took           time.Duration // since wait was called
}

// A hostResult is how a supervisor ended.
type hostResult struct {
	code int // negative: a signal
	said string
}

// wait waits for the end of everything, and that nothing is left.
func (r *running) wait() result {
	r.c.t.Helper()
	begin := time.Now()
	out, err := io.ReadAll(r.stdout)
	if err != nil {
		r.c.t.Error(err)
	}
	r.front.Wait()
	got := result{code: r.front.ProcessState.ExitCode(), stdout: string(out), stderr: r.stderr.String()}
	for _, s := range r.supervisors {
		s.Wait()
		got.hosts = append(got.hosts, hostResult{s.ProcessState.ExitCode(), s.said.String()})
	}
	got.took = time.Since(begin)
	r.c.clean()
	return got
}

// clean checks that nothing is left of a job.
func (c *cluster) clean() {
	c.t.Helper()
	if left := c.Gone(2 * time.Second); len(left) > 0 {
		c.t.Errorf("left behind: %v", left)
	}
	if left, err := os.ReadDir(c.temp()); err != nil || len(left) > 0 {
		c.t.Errorf("temporary files are left behind: %v %v", left, err)
	}
}

// succeed runs a job that must end well.
func (c *cluster) succeed(args ...string) result {
	c.t.Helper()
	got := c.start(args...).wait()
	ok := got.code == 0
	for _, h := range got.hosts {
		ok = ok && h.code == 0
	}
	if !ok {
		c.t.Errorf("golaunch %s: %s", strings.Join(args, " "), got)
	}
	return got
}

func (r result) String() string {
	var b strings.Builder
	b.WriteString("code " + strconv.Itoa(r.code) + "\n" + tail(r.stdout) + tail(r.stderr))
	for i, h := range r.hosts {
		b.WriteString("host " + strconv.Itoa(i) + ": code " + strconv.Itoa(h.code) + "\n" + tail(h.said))
	}
	return b.String()
}

// tail is the end of a long text.
func tail(text string) string {
	const most = 8000
	if len(text) > most {
		return "...\n" + text[len(text)-most:]
	}
	return text
}

// kill kills one process.
func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
