package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/api"
	"github.com/golaunch/golaunch/launcher/internal/stage/needs"
)

func TestPlacesAndReserves(t *testing.T) {
	c := newCluster(t, 4, 2, 3)
	if got := text(c.mustPlace("a", 5)); got != "h0*4 h1*1" {
		t.Error(got)
	}
	c.wantFree(0, 1, 3)
	answer, err := c.place("b", 2, func(q *api.PlaceRequest) { q.DryRun, q.Policy = true, "host" })
	if got := text(answer.Blocks); err != nil || got != "h1*1 h2*1" || answer.Profile != "local" || answer.Advertise != "127.0.0.1" {
		t.Errorf("%+v, %v", answer, err)
	}
	c.wantFree(0, 1, 3)
	_, err = c.place("c", 5, nil)
	if api.KindOf(err) != api.NoRoom || !strings.Contains(err.Error(), "5 ranks cannot be placed, there is room for 4:\n  h0: 0 of 4 slots free\n") {
		t.Error(err)
	}
	over, err := c.place("d", 12, func(q *api.PlaceRequest) { q.Oversubscribe = true })
	if err != nil || text(over.Blocks) != "h0*4 h1*3 h2*5" {
		t.Error(text(over.Blocks), err)
	}
	c.wantFree(0, 0, 0)
	if err := c.client(0).Release(c.ctx(), api.ReleaseRequest{Job: "d", Blocks: over.Blocks}); err != nil {
		t.Fatal(err)
	}
	c.wantFree(0, 1, 3)
	for want, change := range map[string]func(*api.PlaceRequest){
		"there is no host h7: the hosts are h0, h1, h2": func(q *api.PlaceRequest) { q.Hosts = []string{"h7"} },
		"is one of [slot host load]":                    func(q *api.PlaceRequest) { q.Policy = "x" },
	} {
		if _, err := c.place("e", 1, change); api.KindOf(err) != api.BadRequest || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
	_, err = c.place("e", 1, func(q *api.PlaceRequest) {
		q.Needs = []api.Need{{Program: "prog", Needs: needs.Needs{Platform: needs.Platform{Machine: 22, Class: 2, Order: 2}}}}
	})
	if err == nil || !strings.Contains(err.Error(), "\n  h2: prog needs S/390, 64 bits, big-endian, and it has ") {
		t.Error(err)
	}
	_, err = c.place("e", 1, func(q *api.PlaceRequest) {
		q.Needs = []api.Need{{Program: "prog", Needs: needs.Needs{Interpreter: "/lib/ld-none.so"}}}
	})
	if err == nil || !strings.Contains(err.Error(), "\n  h2: prog needs the interpreter /lib/ld-none.so, and it has no such file") {
		t.Error(err)
	}
}

func TestOtherVersion(t *testing.T) {
	c := newCluster(t, 1, 1)
	c.close(1)
	c.agents[1] = newAgent(t, "h1", 1, t.TempDir())
	c.agents[1].Version = "9.9"
	l, err := net.Listen("tcp", c.members[1].Address)
	if err != nil {
		t.Skip("somebody has taken the port: ", err)
	}
	c.serve(1, l)
	if _, err := c.place("j", 2, nil); err == nil || !strings.Contains(err.Error(), "\n  h1: has version 9.9 of golaunch, and h0 has 1") {
		t.Error(err)
	}
}

// Whoever finds an agent's socket gets an answer, from Listen on.
func TestIsFoundBeforeItServes(t *testing.T) {
	a := newAgent(t, "h0", 1, t.TempDir())
	client := api.DialUnix(a.Runtime)
	defer client.Close()
	if err := a.Listen(nil, "127.0.0.1:1", &members{}); err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() { _, err := client.Host(t.Context(), api.HostRequest{}); answered <- err }()
	ended := make(chan error, 1)
	go func() { ended <- a.Serve() }()
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if err := errors.Join(a.Close(), <-ended); err != nil {
		t.Error(err)
	}
	// One that never serves leaves no socket behind.
	a = newAgent(t, "h0", 1, t.TempDir())
	if err := a.Listen(nil, "127.0.0.1:1", &members{}); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(a.Runtime, api.SocketName)); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// Many launches at once: nobody gets what another one has, and who can be placed is.
func TestLaunchesRaceForSlots(t *testing.T) {
	c := newCluster(t, 2, 2, 2)
	var racing sync.WaitGroup
	placed := make(chan []api.Block, 12)
	for i := range cap(placed) {
		racing.Go(func() {
			answer, err := c.place(fmt.Sprint("job", i), 2, func(q *api.PlaceRequest) { q.Policy = "host" })
			if err == nil {
				placed <- answer.Blocks
			} else if api.KindOf(err) != api.NoRoom {
				t.Error(err)
			}
		})
	}
	racing.Wait()
	close(placed)
	n := 0
	for blocks := range placed {
		n++
		for _, b := range blocks {
			if err := c.client(1).Release(c.ctx(), api.ReleaseRequest{Job: "x", Blocks: []api.Block{b}}); err != nil {
				t.Error(err)
			}
		}
	}
	if n < 1 || n > 3 {
		t.Errorf("%d of 12 launches with 2 ranks have got the 6 slots", n)
	}
	c.await("free slots", func() bool { return fmt.Sprint(c.free()) == "[2 2 2]" })
}

func TestMembersThatDoNotAnswer(t *testing.T) {
	c := newCluster(t, 1, 1)
	c.members = append(c.members, Member{"gone", "127.0.0.1:1", "alive", ""}, Member{"dead", "127.0.0.1:1", "dead", ""})
	_, err := c.place("a", 3, nil)
	if err == nil || !strings.Contains(err.Error(), "\n  the agent of gone (127.0.0.1:1): host: ") || strings.Contains(err.Error(), "dead") {
		t.Error(err)
	}
	nodes, err := c.client(0).Nodes(c.ctx(), api.NodesRequest{})
	var got []string
	for _, n := range nodes.Nodes {
		got = append(got, fmt.Sprint(n.Name, " ", n.State, " ", n.Host != nil, " ", n.Problem != ""))
	}
	if want := "[dead dead false true gone alive false true h0 alive true false h1 alive true false]"; err != nil || fmt.Sprint(got) != want {
		t.Error(got, err)
	}
	c.members[1].Name = "other"
	if _, err := c.place("a", 2, nil); err == nil || !strings.Contains(err.Error(), "another host, h1, answers for other") {
		t.Error(err)
	}
}

// A supervisor ends before it has joined: whoever launches hears of it at once, although
// those above and below it have not joined, and why.
func TestSupervisorEndsBeforeItHasJoined(t *testing.T) {
	c := newCluster(t, 1, 1, 1)
	blocks := c.mustPlace("j", 3)
	answer, err := c.trySpawn("j", failing, blocks)
	want := "[{h1 its supervisor has ended before it had joined: it does not find the way false}]"
	if got := fmt.Sprint(answer.Failures); err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
	if err := c.client(0).Release(c.ctx(), api.ReleaseRequest{Job: "j", Blocks: blocks}); err != nil {
		t.Error(err)
	}
	c.await("the end of all", func() bool { return c.jobs() == "" })
	c.await("the slots of who was still being started", func() bool { return slices.Equal(c.free(), []int{1, 1, 1}) })
}

func TestSpawnAlongTheTree(t *testing.T) {
	c := newCluster(t, 1, 1, 1)
	blocks := c.mustPlace("j", 3)
	c.spawn("j", blocks)
	if got := c.jobs(); got != "j@h0@h1@h2" {
		t.Error(got)
	}
	for i, want := range []string{"127.0.0.1:9", "127.0.0.1:10,127.0.0.1:9", "127.0.0.1:11,127.0.0.1:10,127.0.0.1:9"} {
		if got := joinOf(t, c.job(i, "j").PID); got != want {
			t.Errorf("host %d joins %s, want %s", i, got, want)
		}
	}
	for _, n := range []api.SpawnNode{{Host: "h0", Address: "a:1", Token: "x"}, {Host: "h1", Address: blocks[1].Address, Token: "y"}, {Host: "h9", Address: "127.0.0.1:1", Token: "z"}} {
		again, err := c.client(0).Spawn(c.ctx(), api.SpawnRequest{Job: "j", Key: make([]byte, 32), Join: []string{"a:1"}, Wait: 1, Nodes: []api.SpawnNode{n}})
		if err != nil || len(again.Failures) != 1 || again.Failures[0].Host != n.Host || again.Failures[0].Silent != (n.Host == "h9") {
			t.Errorf("%+v, %v", again, err)
		}
	}
	if _, err := c.place("none", 1, nil); api.KindOf(err) != api.NoRoom {
		t.Error(err)
	}
	answer, err := c.client(2).Kill(c.ctx(), api.KillRequest{Job: "j", All: true})
	if err != nil || fmt.Sprint(answer.Places) != "[h0 h1 h2]" {
		t.Errorf("%+v, %v", answer, err)
	}
	c.await("the job's end", func() bool { return c.jobs() == "" })
	c.wantFree(1, 1, 1)
	if _, err := c.client(0).Kill(c.ctx(), api.KillRequest{Job: "j", All: true}); api.KindOf(err) != api.Unknown {
		t.Error(err)
	}
	if left, _ := os.ReadDir(c.agents[0].Directories.running()); len(left) > 0 {
		t.Error(left)
	}
}

// What a job held is free when Release has returned, whoever ends its supervisor.
func TestReleaseEndsWhatRuns(t *testing.T) {
	c := newCluster(t, 1, 1)
	blocks := c.mustPlace("j", 2)
	c.spawn("j", blocks)
	if err := c.client(0).Release(c.ctx(), api.ReleaseRequest{Job: "j", Blocks: blocks}); err != nil {
		t.Fatal(err)
	}
	c.wantFree(1, 1)
	blocks = c.mustPlace("k", 2)
	c.spawn("k", blocks)
	for i := range c.agents {
		syscall.Kill(c.job(i, "k").PID, syscall.SIGKILL)
	}
	if err := c.client(1).Release(c.ctx(), api.ReleaseRequest{Job: "k", Blocks: blocks, Ended: true}); err != nil {
		t.Fatal(err)
	}
	c.wantFree(1, 1)
}

// An agent that is gone touches nothing, and the next one finds what runs.
func TestAgentFindsItsJobs(t *testing.T) {
	c := newCluster(t, 2)
	c.spawn("j", c.mustPlace("j", 1))
	c.spawn("k", c.mustPlace("k", 1))
	pid := c.job(0, "j").PID
	dir := filepath.Dir(c.agents[0].State)
	ended := c.job(0, "k")
	children := c.agents[0].jobs
	c.agents[0].Close()
	<-c.ended[0]
	syscall.Kill(ended.PID, syscall.SIGKILL)
	ended.child.Wait()
	c.agents[0] = newAgent(t, "h0", 2, dir)
	defer func() { c.agents[0].Close(); c.agents[0] = nil }()
	c.wantFree(1)
	if j := c.job(0, "j"); j == nil || j.PID != pid || j.child != nil {
		t.Fatalf("%+v", j)
	}
	if _, err := c.agents[0].start(c.ctx(), api.SpawnRequest{Job: "j"}, api.SpawnNode{}); err == nil {
		t.Error("it was started again")
	}
	if err := c.agents[0].release(c.ctx(), api.ReleaseRequest{Job: "j"}, api.Block{Host: "h0", Token: c.job(0, "j").Token}); err != nil {
		t.Error(err)
	}
	c.wantFree(2)
	children["j"].child.Wait()
}

func TestOneAgentForADirectory(t *testing.T) {
	dir := t.TempDir()
	a := newAgent(t, "a", 1, dir)
	defer a.Close()
	if _, err := New(a.Config); err == nil || !strings.Contains(err.Error(), "an agent runs already with runtime directory "+dir) {
		t.Error(err)
	}
	open := a.Config
	open.Runtime = t.TempDir()
	os.Chmod(open.Runtime, 0o755)
	if _, err := New(open); err == nil || !strings.Contains(err.Error(), "others may look into it (mode 0755): chmod 700") {
		t.Error(err)
	}
}

// attach attaches a golaunch and returns what it is told.
func (c *cluster) attach(ctx context.Context, i int, job string) (chan api.Notice, chan error) {
	notices, ended := make(chan api.Notice, 10), make(chan error, 1)
	client := c.client(i)
	go func() {
		ended <- client.Attach(ctx, api.AttachRequest{Job: job, Front: api.Front{PID: 1, Ranks: 1, Command: "prog"}, Hosts: []string{"h7", "h8"}}, func(n api.Notice) { notices <- n })
	}()
	return notices, ended
}

func TestGolaunchIsToldToEnd(t *testing.T) {
	c := newCluster(t, 1, 1)
	ctx, gone := context.WithCancel(c.ctx())
	old, oldEnded := c.attach(ctx, 1, "j")
	<-old
	notices, ended := c.attach(ctx, 1, "j") // it attaches again
	<-notices
	c.spawn("j", c.mustPlace("j", 1))
	answer, err := c.client(0).Kill(c.ctx(), api.KillRequest{Job: "j", All: true})
	if n := <-notices; err != nil || answer.Front != "h1" || answer.Places != nil || !n.Kill {
		t.Errorf("%+v, %v, %+v", answer, err, n)
	}
	gone()
	<-ended
	<-oldEnded
	c.await("the golaunch to be gone", func() bool {
		jobs, _ := c.client(0).Jobs(c.ctx(), api.JobsRequest{All: true})
		return len(jobs.Jobs) == 1 && jobs.Jobs[0].Front == nil
	})
	if answer, err := c.client(1).Kill(c.ctx(), api.KillRequest{Job: "j", All: true}); err != nil || fmt.Sprint(answer.Places) != "[h0]" {
		t.Errorf("%+v, %v", answer, err)
	}
	c.await("the job's end", func() bool { return c.jobs() == "" })
}

// A golaunch hears which of its hosts are dead when it attaches, and what changes then.
func TestGolaunchHearsOfItsHosts(t *testing.T) {
	c := newCluster(t, 1)
	c.members = append(c.members, Member{"h7", "127.0.0.1:1", "dead", ""}, Member{"h6", "127.0.0.1:1", "dead", ""})
	ctx, gone := context.WithCancel(c.ctx())
	notices, ended := c.attach(ctx, 0, "j")
	hears := func(want api.Notice) {
		t.Helper()
		if n := <-notices; n != want {
			t.Errorf("%+v, want %+v", n, want)
		}
	}
	hears(api.Notice{})
	hears(api.Notice{Dead: "h7"})
	a := c.agents[0]
	a.Dead("h6")
	a.Alive("h9")
	a.Alive("h7")
	hears(api.Notice{Alive: "h7"})
	a.Dead("h8")
	hears(api.Notice{Dead: "h8"})
	gone()
	<-ended
}

func TestLogsOfADetachedJob(t *testing.T) {
	c := newCluster(t, 1, 1)
	dir := filepath.Join(c.agents[1].Directories.Jobs(), "j")
	os.Mkdir(dir, 0o700)
	f, err := os.Create(filepath.Join(dir, OutputName))
	if err != nil {
		t.Fatal(err)
	}
	syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	io.WriteString(f, "one\n")
	r, w := io.Pipe()
	ended := make(chan error, 1)
	client := c.client(0)
	go func() {
		ended <- client.Logs(c.ctx(), api.LogsRequest{Job: "j", Follow: true, All: true}, w)
		w.Close()
	}()
	if got := readLine(t, r); got != "one\n" {
		t.Error(got)
	}
	var now strings.Builder
	if err := client.Logs(c.ctx(), api.LogsRequest{Job: "j", All: true}, &now); err != nil || now.String() != "one\n" {
		t.Errorf("%q, %v", now.String(), err)
	}
	io.WriteString(f, "two\n")
	if got := readLine(t, r); got != "two\n" {
		t.Error(got)
	}
	f.Close() // the job's end
	rest, _ := io.ReadAll(r)
	if err := <-ended; err != nil || len(rest) > 0 {
		t.Errorf("%q, %v", rest, err)
	}
	if err := client.Logs(c.ctx(), api.LogsRequest{Job: "k", All: true}, io.Discard); api.KindOf(err) != api.Unknown {
		t.Error(err)
	}
	os.Symlink("/etc", filepath.Join(c.agents[0].Directories.Jobs(), "evil"))
	os.Mkdir(filepath.Join(c.agents[0].Directories.Jobs(), "evil2"), 0o700)
	os.Symlink("/etc/passwd", filepath.Join(c.agents[0].Directories.Jobs(), "evil2", OutputName))
	for _, job := range []string{"evil", "evil2"} {
		var text strings.Builder
		if err := client.Logs(c.ctx(), api.LogsRequest{Job: job}, &text); err == nil || text.Len() > 0 || errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q, %v", text.String(), err)
		}
	}
}

// A reservation that nobody uses ends by itself, unless it is renewed.
func TestReservationsEnd(t *testing.T) {
	c := newCluster(t, 2, 2)
	answer, err := c.place("j", 4, func(q *api.PlaceRequest) { q.Hold = 2 * deadline })
	if err != nil || answer.Hold != 2*deadline || c.mustDryRun().Hold != deadline {
		t.Error(err, answer.Hold)
	}
	renew := func(want string) {
		t.Helper()
		got, err := c.client(0).Renew(c.ctx(), api.RenewRequest{Job: "j", Blocks: answer.Blocks, Hold: answer.Hold})
		if err != nil || len(got.Silent) > 0 || !strings.Contains(fmt.Sprint(got.Failures), want) || (want == "") != (got.Failures == nil) {
			t.Errorf("%+v, %v, want %q", got, err, want)
		}
	}
	c.wantFree(0, 0)
	for range 3 {
		c.later(deadline)
		renew("")
	}
	c.wantFree(0, 0)
	c.later(2*deadline + time.Second)
	c.wantFree(2, 2)
	renew("{h1 job j has no reservation any more: its time is over, or the agent was restarted false}")
	c.wantFree(2, 2)
}

// later lets time pass for reservations.
func (c *cluster) later(d time.Duration) {
	for _, a := range c.agents {
		a.started = a.started.Add(-d)
	}
}

func (c *cluster) mustDryRun() api.PlaceAnswer {
	c.t.Helper()
	answer, err := c.place("dry", 1, func(q *api.PlaceRequest) { q.DryRun, q.Oversubscribe = true, true })
	if err != nil {
		c.t.Fatal(err)
	}
	return answer
}

// One agent that does not answer holds up nobody's renewal.
func TestRenewalOfASilentHost(t *testing.T) {
	c := newCluster(t, 1, 1)
	blocks := c.mustPlace("j", 2)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	blocks[1].Address = silent.Addr().String()
	got, err := c.client(0).Renew(c.ctx(), api.RenewRequest{Job: "j", Blocks: blocks, Hold: time.Second})
	if err != nil || len(got.Silent) != 1 || got.Silent[0].Host != "h1" || !strings.Contains(got.Silent[0].Text, "it has not answered in time") {
		t.Errorf("%+v, %v", got, err)
	}
	c.later(1500 * time.Millisecond)
	c.wantFree(1, 0)
}
