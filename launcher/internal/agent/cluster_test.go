package agent

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golaunch/golaunch/launcher/internal/api"
)

const deadline = 20 * time.Second

// This binary is the test, and what agents start instead of golaunch.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "supervise" {
		os.Exit(superviseNothing())
	}
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// failing is a key with which h1's supervisor ends before it has joined, and no other
// joins.
const failing = "the key of a job that fails"

// superviseNothing does what an agent expects of golaunch supervise: it waits for the
// key, says where it serves others and that it has joined, and ends when it is told to.
func superviseNothing() int {
	syscall.CloseOnExec(lockFD)
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	key, err := io.ReadAll(os.NewFile(keyFD, "key"))
	if err != nil || len(key) == 0 {
		return 1
	}
	ready := os.NewFile(readyFD, "ready")
	if i := slices.Index(os.Args, "--serve"); i > 0 {
		fmt.Fprintln(ready, "127.0.0.1:1"+os.Args[slices.Index(os.Args, "--host")+1][1:])
	}
	switch {
	case string(key) != failing:
		fmt.Fprintln(ready, Joined)
		ready.Close()
	case slices.Contains(os.Args, "h1"):
		fmt.Fprintln(os.Stderr, "it does not find the way")
		return 1
	}
	fmt.Fprintln(os.Stderr, "the last word")
	<-told
	return 0
}

// members is a list that stands for gossip.
type members []Member

func (m *members) Members() []Member { return *m }

// A cluster is agents h0, h1, ... in this process.
type cluster struct {
	t       *testing.T
	agents  []*Agent
	members members
	ended   []chan error
}

func newCluster(t *testing.T, slots ...int) *cluster {
	t.Helper()
	c := &cluster{t: t}
	var listeners []net.Listener
	for i, n := range slots {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners = append(listeners, l)
		c.members = append(c.members, Member{fmt.Sprint("h", i), l.Addr().String(), "alive", ""})
		c.agents = append(c.agents, newAgent(t, c.members[i].Name, n, t.TempDir()))
	}
	for i := range c.agents {
		c.ended = append(c.ended, make(chan error, 1))
		c.serve(i, listeners[i])
	}
	t.Cleanup(func() {
		for i := range c.agents {
			c.close(i)
		}
	})
	return c
}

func newAgent(t *testing.T, name string, slots int, dir string) *Agent {
	t.Helper()
	a, err := New(Config{
		Directories: Directories{filepath.Join(dir, "state"), filepath.Join(dir, "run"), filepath.Join(dir, "cache")},
		Name:        name, Version: "1", Slots: slots, Labels: map[string]string{"name": name}, Profile: "local", Hold: deadline,
		Program: []string{"/proc/self/exe"}, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Call: func(ctx context.Context, address string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// serve has an agent serve; it can be asked from now on.
func (c *cluster) serve(i int, network net.Listener) {
	c.t.Helper()
	a := c.agents[i]
	if err := a.Listen(network, c.members[i].Address, &c.members); err != nil {
		c.t.Fatal(err)
	}
	go func() { c.ended[i] <- a.Serve() }()
}

// await waits until something is so that nobody tells of.
func (c *cluster) await(what string, is func() bool) {
	c.t.Helper()
	late := time.After(deadline)
	for pause := time.NewTicker(time.Millisecond); !is(); {
		select {
		case <-pause.C:
		case <-late:
			c.t.Fatal("not in time: ", what)
		}
	}
}

func (c *cluster) close(i int) {
	if c.agents[i] == nil {
		return
	}
	for name, j := range c.agents[i].jobs {
		c.t.Logf("job %s still runs", name)
		j.process.signal(syscall.SIGKILL)
	}
	c.agents[i].Close()
	if err := <-c.ended[i]; err != nil {
		c.t.Error(err)
	}
	c.agents[i] = nil
}

func (c *cluster) ctx() context.Context {
	ctx, cancel := context.WithTimeout(c.t.Context(), deadline)
	c.t.Cleanup(cancel)
	return ctx
}

// client asks an agent over its socket.
func (c *cluster) client(i int) *api.Client {
	client := api.DialUnix(c.agents[i].Runtime)
	c.t.Cleanup(client.Close)
	return client
}

func (c *cluster) free() (free []int) {
	for _, a := range c.agents {
		free = append(free, a.host(api.HostRequest{}).Free)
	}
	return free
}

func (c *cluster) wantFree(want ...int) {
	c.t.Helper()
	if got := c.free(); !slices.Equal(got, want) {
		c.t.Fatalf("%v slots are free, want %v", got, want)
	}
}

// place places a job's ranks through h0.
func (c *cluster) place(job string, ranks int, change func(*api.PlaceRequest)) (api.PlaceAnswer, error) {
	q := api.PlaceRequest{Job: job, Ranks: ranks, Policy: "slot"}
	if change != nil {
		change(&q)
	}
	return c.client(0).Place(c.ctx(), q)
}

func (c *cluster) mustPlace(job string, ranks int) []api.Block {
	c.t.Helper()
	answer, err := c.place(job, ranks, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer.Blocks
}

// text is blocks as a table says it.
func text(blocks []api.Block) string {
	var s []string
	for _, b := range blocks {
		s = append(s, fmt.Sprint(b.Host, "*", b.Ranks))
	}
	return strings.Join(s, " ")
}

// spawn starts a job on its blocks, each below the one before.
func (c *cluster) spawn(job string, blocks []api.Block) {
	c.t.Helper()
	answer, err := c.trySpawn(job, string(make([]byte, 32)), blocks)
	if err != nil || len(answer.Failures) > 0 {
		c.t.Fatal(answer.Failures, err)
	}
}

func (c *cluster) trySpawn(job, key string, blocks []api.Block) (api.SpawnAnswer, error) {
	var nodes []api.SpawnNode
	for _, b := range slices.Backward(blocks) {
		nodes = []api.SpawnNode{{Host: b.Host, Address: b.Address, Token: b.Token, Children: nodes}}
	}
	return c.client(0).Spawn(c.ctx(), api.SpawnRequest{Job: job, Key: []byte(key), Join: []string{"127.0.0.1:9"}, Nodes: nodes, Wait: time.Second})
}

// job is one that runs on a host.
func (c *cluster) job(i int, name string) *job {
	c.agents[i].mu.Lock()
	defer c.agents[i].mu.Unlock()
	return c.agents[i].jobs[name]
}

// jobs says which jobs there are, as NAME@HOST... each.
func (c *cluster) jobs() string {
	c.t.Helper()
	answer, err := c.client(0).Jobs(c.ctx(), api.JobsRequest{All: true})
	if err != nil || answer.Silent != nil {
		c.t.Fatal(answer.Silent, err)
	}
	var s []string
	for _, j := range answer.Jobs {
		for _, p := range j.Places {
			j.Name += "@" + p.Host
		}
		s = append(s, j.Name)
	}
	return strings.Join(s, " ")
}

// commandLine is that of a process.
func commandLine(t *testing.T, pid int) []string {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimRight(string(b), "\x00"), "\x00")
}

// joinOf is what a process was told to join.
func joinOf(t *testing.T, pid int) string {
	line := commandLine(t, pid)
	return line[slices.Index(line, "--join")+1]
}

func readLine(t *testing.T, r io.Reader) string {
	t.Helper()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return line
}
