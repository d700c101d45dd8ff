package fivehosts

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/api"
	"github.com/golaunch/golaunch/launcher/internal/netns"
)

const (
	hosts = 5
	slots = 4 // of each host
	ranks = hosts * slots
)

// A cluster is five hosts with an agent each.
type cluster struct {
	*netns.Network
	t       *testing.T
	dir     string
	profile string
	agents  []*agent
}

// An agent is golaunch agent on one host.
type agent struct {
	*exec.Cmd
	*api.Client // asks it over its socket
}

func newCluster(t *testing.T, profile string) *cluster {
	t.Helper()
	c := &cluster{Network: netns.New(t, hosts, netns.Options{}), t: t, profile: profile}
	golaunch(t)
	var err error
	if c.dir, err = os.MkdirTemp("", "five"); err != nil { // t.TempDir() may be too long for a socket
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(c.dir) })
	t.Cleanup(c.showLogs)
	if err := os.Mkdir(c.temp(), 0o700); err != nil {
		t.Fatal(err)
	}
	c.succeed(0, "keygen", c.key())
	for i := range hosts {
		a := &agent{Client: api.DialUnix(c.home(i) + "/run")}
		t.Cleanup(a.Client.Close)
		c.agents = append(c.agents, a)
		c.start(i, c.join(i)...)
	}
	c.whole()
	return c
}

func (c *cluster) key() string       { return filepath.Join(c.dir, "key") }
func (c *cluster) temp() string      { return filepath.Join(c.dir, "tmp") }
func (c *cluster) home(i int) string { return filepath.Join(c.dir, c.Hosts[i].Name) }

// join is the flag that tells a host's agent of another.
func (c *cluster) join(i int) []string {
	return []string{"--join", c.Hosts[(i+1)%hosts].Addr().String()}
}

// start starts a host's agent, for the first time or again.
func (c *cluster) start(i int, flags ...string) {
	c.t.Helper()
	args := append([]string{"agent", "--name", c.Hosts[i].Name, "--bind", c.Hosts[i].Addr().String(), "--profile", c.profile, "--slots", fmt.Sprint(slots)}, flags...)
	log, err := os.OpenFile(c.home(i)+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close()
	cmd := c.command(context.Background(), i, args...)
	cmd.Stderr = log
	if err := c.Hosts[i].Start(cmd); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	c.agents[i].Cmd = cmd
}

// signal signals a host's agent.
func (c *cluster) signal(i int, sig syscall.Signal) {
	c.t.Helper()
	if err := c.agents[i].Process.Signal(sig); err != nil {
		c.t.Fatal(err)
	}
}

// showLogs shows what the agents have said, if the test has failed.
func (c *cluster) showLogs() {
	for i := range c.agents {
		if text, _ := os.ReadFile(c.home(i) + ".log"); c.t.Failed() {
			c.t.Logf("%s:\n%s", c.Hosts[i].Name, tail(string(text)))
		}
	}
}

// tail is the end of a long text.
func tail(text string) string {
	const most = 4000
	return text[max(len(text)-most, 0):]
}

// command is golaunch on a host.
func (c *cluster) command(ctx context.Context, i int, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, golaunch(c.t), args...)
	home := c.home(i)
	cmd.Env = append(os.Environ(), "TMPDIR="+c.temp(), "GORACE=atexit_sleep_ms=0", "GOLAUNCH_KEY_FILE="+c.key(),
		"GOLAUNCH_STATE="+home+"/state", "GOLAUNCH_RUNTIME="+home+"/run", "GOLAUNCH_CACHE="+home+"/cache")
	cmd.Dir = c.dir
	return cmd
}

// await waits until something is so that nobody tells of.
func (c *cluster) await(what string, is func() bool) {
	c.t.Helper()
	pause, late := time.NewTicker(10*time.Millisecond), time.After(deadline)
	defer pause.Stop()
	for !is() {
		select {
		case <-pause.C:
		case <-late:
			c.t.Fatal("not in time: ", what)
		}
	}
}

// nodes are the members as a host's agent sees them; none if it does not answer.
func (c *cluster) nodes(i int) []api.Node {
	ctx, cancel := context.WithTimeout(c.t.Context(), deadline)
	defer cancel()
	answer, _ := c.agents[i].Nodes(ctx, api.NodesRequest{})
	return answer.Nodes
}

// states are the members' states as a host's agent sees them, by name.
func (c *cluster) states(i int) (list []string) {
	for _, n := range c.nodes(i) {
		list = append(list, n.State)
	}
	return list
}

// whole waits until every agent sees all members alive, and hears them.
func (c *cluster) whole() {
	c.t.Helper()
	for i := range c.agents {
		c.await("all members, seen by "+c.Hosts[i].Name, func() bool {
			nodes := c.nodes(i)
			return len(nodes) == hosts && !slices.ContainsFunc(nodes, func(n api.Node) bool { return n.Host == nil })
		})
	}
}

// free is how many slots each host has free, -1 if that is not known.
func (c *cluster) free(i int) (list []int) {
	for _, n := range c.nodes(i) {
		if n.Host == nil {
			list = append(list, -1)
			continue
		}
		list = append(list, n.Host.Free)
	}
	return list
}

// jobs are those of the cluster, as a host's agent sees them.
func (c *cluster) jobs(i int) []api.Job {
	ctx, cancel := context.WithTimeout(c.t.Context(), deadline)
	defer cancel()
	answer, _ := c.agents[i].Jobs(ctx, api.JobsRequest{All: true})
	return answer.Jobs
}

// theJob waits for a job that has ranks on so many hosts and whose golaunch is known.
func (c *cluster) theJob(i, places int) (job api.Job) {
	c.t.Helper()
	c.await("the job", func() bool {
		jobs := c.jobs(i)
		if len(jobs) == 1 {
			job = jobs[0]
		}
		return len(jobs) == 1 && len(job.Places) == places && job.Front != nil
	})
	return job
}

// quiet waits until nothing is left of any job: no process but the agents, no slot
// taken, no record, no directory.
func (c *cluster) quiet() {
	c.t.Helper()
	var left []string
	for pause, late := time.NewTicker(10*time.Millisecond), time.After(deadline); ; {
		if left = c.left(); len(left) == 0 {
			pause.Stop()
			return
		}
		select {
		case <-pause.C:
		case <-late:
			c.t.Fatal("left behind: ", left)
		}
	}
}

// left is what is left of jobs.
func (c *cluster) left() (list []string) {
	for i, h := range c.Hosts {
		for _, p := range h.Processes() {
			if p.PID != c.agents[i].Process.Pid {
				list = append(list, p.String()+" on "+h.Name)
			}
		}
		list = append(list, files(c.home(i), "state/running", "cache/jobs")...)
		if free := c.freeHere(i); free != slots {
			list = append(list, fmt.Sprintf("%d of %d slots free on %s", free, slots, h.Name))
		}
	}
	for _, j := range c.jobs(0) {
		list = append(list, "job "+j.Name)
	}
	return append(list, files(c.temp(), "")...)
}

// freeHere is how many slots a host's agent says are free, -1 if it does not answer.
func (c *cluster) freeHere(i int) int {
	ctx, cancel := context.WithTimeout(c.t.Context(), deadline)
	defer cancel()
	h, err := c.agents[i].Host(ctx, api.HostRequest{})
	if err != nil {
		return -1
	}
	return h.Free
}

// files are what is in directories.
func files(home string, dirs ...string) (list []string) {
	for _, d := range dirs {
		entries, _ := os.ReadDir(filepath.Join(home, d))
		for _, e := range entries {
			list = append(list, filepath.Join(home, d, e.Name()))
		}
	}
	return list
}

// has fails the test if a text lacks one of parts.
func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q lacks %q", text, p)
		}
	}
}
