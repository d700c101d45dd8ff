package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/golaunch/golaunch/launcher"
)

// A cluster is agents on this machine, called a, b, c, ...: each with directories and
// ports of its own.
type cluster struct {
	t      *testing.T
	dir    string
	key    string
	gossip string // the address at which the first one gossips
	agents []*running
	logs   []*lineReader
	args   [][]string
}

func newCluster(t *testing.T, slots ...int) *cluster {
	t.Helper()
	dir, err := os.MkdirTemp("", "cluster") // t.TempDir() may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c := &cluster{t: t, dir: dir, key: filepath.Join(dir, "key")}
	t.Cleanup(c.showLogs)
	launch(t, "keygen", c.key).expect(t, result{0, "", ""})
	for i, n := range slots {
		name := string(rune('a' + i))
		c.args = append(c.args, []string{"agent", "--name", name, "--bind", "127.0.0.1:0", "--key-file", c.key, "--log-format", "json",
			"--slots", fmt.Sprint(n), "--label", "name=" + name, "--label", "odd=" + fmt.Sprint(i%2 == 1)})
		c.agents, c.logs = append(c.agents, nil), append(c.logs, nil)
		c.start(i)
	}
	for i := range slots {
		c.await("all members", func() bool { return len(c.nodesOf(i)) == len(slots) })
	}
	return c
}

// start starts an agent, for the first time or again.
func (c *cluster) start(i int) {
	c.t.Helper()
	args := c.args[i]
	if c.gossip != "" {
		args = append(args[:len(args):len(args)], "--join", c.gossip)
	}
	cmd := c.golaunch(i, args...)
	c.logs[i] = &lineReader{seen: make(chan string, 10_000)}
	cmd.Stderr = c.logs[i]
	c.agents[i] = startCommand(c.t, cmd)
	line := c.says(i, "agent started")
	if c.gossip == "" {
		var start struct{ Gossip string }
		if err := json.Unmarshal([]byte(line), &start); err != nil {
			c.t.Fatal(err)
		}
		c.gossip = start.Gossip
	}
}

// showLogs shows what the agents have said, if the test has failed.
func (c *cluster) showLogs() {
	for i, l := range c.logs {
		for c.t.Failed() {
			select {
			case line := <-l.seen:
				c.t.Logf("%c: %s", 'a'+i, line)
				continue
			default:
			}
			break
		}
	}
}

// says waits for a line of an agent's log that contains text.
func (c *cluster) says(i int, text string) string {
	c.t.Helper()
	return (&network{t: c.t, stderr: c.logs[i]}).says(text)
}

// golaunch is a command on a host.
func (c *cluster) golaunch(i int, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(c.t.Context(), self(), args...)
	cmd.Env = append(os.Environ(), envRole+"=golaunch", "GORACE=atexit_sleep_ms=0", "TMPDIR="+c.t.TempDir())
	home := filepath.Join(c.dir, string(rune('a'+i)))
	cmd.Env = append(cmd.Env, "GOLAUNCH_STATE="+home+"/state", "GOLAUNCH_RUNTIME="+home+"/run", "GOLAUNCH_CACHE="+home+"/cache", "GOLAUNCH_KEY_FILE="+c.key)
	return cmd
}

// launch runs a command on a host to its end.
func (c *cluster) launch(i int, args ...string) result {
	c.t.Helper()
	return c.begin(i, args...).wait()
}

// begin starts a command on a host; its stdin is empty.
func (c *cluster) begin(i int, args ...string) *running {
	c.t.Helper()
	r := startCommand(c.t, c.golaunch(i, args...))
	r.stdin.Close()
	return r
}

// await waits until something is so that nobody tells of.
func (c *cluster) await(what string, is func() bool) {
	c.t.Helper()
	late := time.After(deadline)
	for pause := time.NewTicker(20 * time.Millisecond); !is(); {
		select {
		case <-pause.C:
		case <-late:
			c.t.Fatal("not in time: ", what)
		}
	}
}

type node struct {
	Name, State string
	Host        struct{ Slots, Free int }
}

func (c *cluster) nodes() []node { return c.nodesOf(0) }

// nodesOf are the members that a host's agent knows.
func (c *cluster) nodesOf(i int) (list []node) {
	c.t.Helper()
	got := c.launch(i, "nodes", "--json")
	if err := json.Unmarshal([]byte(got.stdout), &list); err != nil {
		c.t.Fatal(got, err)
	}
	return list
}

// free is how many slots each host has free.
func (c *cluster) free() (free []int) {
	for _, n := range c.nodes() {
		free = append(free, n.Host.Free)
	}
	return free
}

type clusterJob struct {
	Job   string
	Front *struct {
		Host     string
		Ranks    int
		Detached bool
	}
	Places []struct {
		Host       string
		PID, Slots int
	}
}

// jobs are those of the cluster, as a host's agent sees them.
func (c *cluster) jobs(i int) []clusterJob {
	c.t.Helper()
	var answer struct{ Jobs []clusterJob }
	got := c.launch(i, "ps", "--json")
	if err := json.Unmarshal([]byte(got.stdout), &answer); err != nil {
		c.t.Fatal(got, err)
	}
	return answer.Jobs
}

// theJob waits for a job that runs on so many hosts and whose golaunch is known.
func (c *cluster) theJob(hosts int) (job clusterJob) {
	c.t.Helper()
	c.await("the job", func() bool {
		jobs := c.jobs(0)
		if len(jobs) == 1 {
			job = jobs[0]
		}
		return len(jobs) == 1 && len(job.Places) == hosts && job.Front != nil
	})
	return job
}

// quiet waits until nothing runs and all slots are free.
func (c *cluster) quiet() {
	c.t.Helper()
	c.await("the end of all jobs", func() bool {
		for _, n := range c.nodes() {
			if n.Host.Free != n.Host.Slots {
				return false
			}
		}
		return len(c.jobs(0)) == 0
	})
}

// alive reports whether a process runs.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}

// pids reads a line with a process id from each of n ranks.
func (r *running) pids(n int) (list []int) {
	r.t.Helper()
	for range n {
		line, err := r.stdout.ReadString('\n')
		var pid int
		if _, scanErr := fmt.Sscan(line, &pid); err != nil || scanErr != nil {
			r.t.Fatalf("%q, %v; stderr: %s", line, err, r.stderr.String())
		}
		list = append(list, pid)
	}
	return list
}

// stays is a rank that says which process it is, has a descendant in a session of its
// own, and stays.
var stays = sh(`setsid sleep 1000 & echo $$; sleep 1000`)

func TestLaunchOverACluster(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2, 2)
	got := c.launch(0, with("-n 5", sh("echo rank $GOLAUNCH_RANK of $GOLAUNCH_SIZE on $GOLAUNCH_HOST")...)...)
	if want := []string{"rank 0 of 5 on a", "rank 1 of 5 on a", "rank 2 of 5 on b", "rank 3 of 5 on b", "rank 4 of 5 on c"}; got.code != 0 || got.stderr != "" || !slices.Equal(sortedLines(got.stdout), want) {
		t.Errorf("%+v", got)
	}
	if free := c.free(); !slices.Equal(free, []int{2, 2, 2}) { // at once
		t.Errorf("%v slots are free", free)
	}
	got = c.launch(1, with("-n 6", program("meet")...)...)
	if lines := sortedLines(got.stdout); got.code != 0 || len(lines) != 6 || lines[5] != "rank 5: host 2 of 3, on c, beside [4 5], 2 sharers, auto, secret of 32 bytes" {
		t.Errorf("%+v", got)
	}
	c.launch(2, with("-n 4 --map-by host", sh("[ $GOLAUNCH_HOST != b ] || exit 7")...)...).expect(t, result{7, "", "golaunch: rank 2 (b, process "})
	c.launch(2, with("-n 4", sh("[ $GOLAUNCH_RANK = 3 ] && kill -SEGV $$; sleep 1000")...)...).expect(t, result{139, "", "rank 3 (b, process "})
	in := startCommand(t, c.golaunch(0, with("-n 6 --stdin all --tag-output", sh("cat")...)...))
	fmt.Fprintln(in.stdin, "a line")
	in.stdin.Close()
	if got := in.wait(); got.code != 0 || count(got.stdout, "] a line\n") != 6 {
		t.Errorf("%+v", got)
	}
	c.launch(0, with("-n 6 --timeout 0.2", sh("sleep 1000")...)...).expect(t, result{124, "", "6 ranks were stopped"})
	pkg := module(t, "package main\nimport (\"fmt\"; \"os\")\nfunc main() { fmt.Println(os.Getenv(`GOLAUNCH_HOST`)) }\n")
	if got := c.launch(0, "-n", "3", "--ppn", "1", pkg); !slices.Equal(sortedLines(got.stdout), []string{"a", "b", "c"}) {
		t.Errorf("%+v", got)
	}
	c.launch(0, "-n", "2", module(t, "package main\nfunc main() { x := 1 }\n")).expect(t, result{1, "", "does not build:\n"})
	c.quiet()
}

func TestWhereRanksGo(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2, 2)
	for _, tt := range []struct {
		flags string
		want  result
	}{
		{"-n 5", result{0, "a: ranks 0-1\nb: ranks 2-3\nc: rank 4\n", ""}},
		{"-n 4 --map-by host", result{0, "a: ranks 0-1\nb: rank 2\nc: rank 3\n", ""}},
		{"-n 3 --hosts c,a", result{0, "c: ranks 0-1\na: rank 2\n", ""}},
		{"-n 2 --hosts 7", result{2, "", "there is no host 7: the hosts are a, b, c\n"}},
		{"-n 2 --ppn 1", result{0, "a: rank 0\nb: rank 1\n", ""}},
		{"-n 2 --label odd=true", result{0, "b: ranks 0-1\n", ""}},
		{"-n 1 --label odd=true --label name=a", result{2, "", "\n  a: has label odd=false and not true\n"}},
		{"-n 7", result{2, "", "golaunch: 7 ranks cannot be placed, there is room for 6:\n  a: 2 of 2 slots free\n"}},
		{"-n 7 --oversubscribe", result{0, "a: ranks 0-3\nb: ranks 4-6\n", ""}},
		{"-n 1 --map-by node", result{2, "", "it is one of slot, host, load"}},
		{"-n 1 --label x", result{2, "", "it is NAME=VALUE"}},
		{"-n 2 --ppn -1", result{2, "", "--ppn -1: it must not be negative"}},
		{"-n 2 --hosts a..,/", result{2, "", "is no host's name"}},
		{"-n 2 --secret-file x", result{2, "", "--secret-file and --secret-fd go with --listen; a cluster has --key-file"}},
		{"-n 2 --local --ppn 1", result{2, "", "--ppn: it is for jobs over a cluster, and --local asks for this machine alone"}},
	} {
		t.Run(tt.flags, func(t *testing.T) {
			t.Parallel()
			c := *c
			c.t = t
			c.launch(0, with(tt.flags, "--dry-run", "true")...).expect(t, tt.want)
		})
	}
	launch(t, "--dry-run", "true").expect(t, result{2, "", "--dry-run: it is for jobs over a cluster, and no agent runs on this host, and --agent names none"})
	launch(t, "--detach", "true").expect(t, result{2, "", "--detach: this host's agent is needed"})
	c.launch(0, with("-n 3 --local", sh("echo $GOLAUNCH_HOST")...)...).expect(t, result{0, host(t) + "\n", ""})
	foreign := filepath.Join(t.TempDir(), "foreign")
	os.WriteFile(foreign, aarch64(), 0o755)
	c.launch(0, foreign).expect(t, result{2, "", "\n  a: foreign needs aarch64, 64 bits, and it has x86-64, 64 bits\n"})
}

// aarch64 is a program for another architecture, as far as its headers go.
func aarch64() []byte {
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		panic(err)
	}
	head := bytes.Clone(self[:64<<10])
	head[18] = 183
	return head
}

func TestKillFromAnotherHost(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1, 1, 1)
	r := c.begin(0, with("-n 2 --hosts b,c", stays...)...)
	pids := r.pids(2)
	job := c.theJob(2)
	if job.Front.Host != "a" || job.Front.Ranks != 2 || job.Front.Detached || job.Places[0].Host != "b" || job.Places[1].Slots != 1 {
		t.Errorf("%+v", job)
	}
	c.launch(1, "ps").expect(t, result{0, "\n" + job.Job + "  2      a     ", ""})
	c.launch(1, "kill", "nothing").expect(t, result{1, "", "golaunch: kill: "})
	c.launch(1, "kill").expect(t, result{2, "", "one JOB is needed"})
	c.launch(1, "logs", job.Job).expect(t, result{1, "", "there is no output of a job " + job.Job})
	c.launch(2, "kill", job.Job).expect(t, result{0, "", ""})
	r.wait().expect(t, result{143, "", "golaunch: interrupted by SIGTERM"})
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d lives", pid)
		}
	}
	c.quiet()
}

func TestDetachedJob(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2)
	c.launch(0, with("--detach -n 2", "/nothing")...).expect(t, result{2, "", "/nothing: no such file or directory"})
	c.launch(0, with("--detach -n 9", "true")...).expect(t, result{2, "", "golaunch: 9 ranks cannot be placed"})
	fifo := newFifo(t)
	// dd takes a line at once; a shell's read takes bytes, of which the others take some.
	got := c.launch(0, with("--detach -n 4 -x FIFO="+fifo.Name(), sh("echo rank $GOLAUNCH_RANK; dd bs=6 count=1 status=none <$FIFO; echo end >&2; exit 3")...)...)
	got.expect(t, result{0, "", ""})
	name := strings.TrimSpace(got.stdout)
	if job := c.theJob(2); job.Job != name || !job.Front.Detached {
		t.Errorf("%+v, want %s", job, name)
	}
	c.await("its output", func() bool { return count(c.launch(1, "logs", name).stdout, "rank ") == 4 })
	follow := c.begin(1, "logs", "-f", name)
	if line, err := follow.stdout.ReadString('\n'); err != nil || !strings.HasPrefix(line, "rank ") {
		t.Errorf("%q, %v", line, err)
	}
	for range 4 {
		fifo.WriteString("go on\n")
	}
	follow.wait().expect(t, result{0, "go on\n", ""})
	c.launch(0, "logs", name).expect(t, result{0, "exited with code 3\n", ""})
	c.quiet()

	name = strings.TrimSpace(c.launch(0, with("--detach -n 2", stays...)...).stdout)
	c.launch(1, "kill", name).expect(t, result{0, "", ""})
	c.quiet()
	c.launch(1, "logs", name).expect(t, result{0, "interrupted by SIGTERM", ""})
}

// An agent is killed while a job runs on its host, and another starts: the job goes on,
// is known, and can be killed; its slots are counted.
func TestAgentIsKilled(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2)
	r := c.begin(0, with("-n 4", stays...)...)
	pids := r.pids(4)
	before := c.theJob(2)
	for i := range c.agents {
		c.agents[i].signal(syscall.SIGKILL)
		c.agents[i].wait()
	}
	c.launch(0, "-n", "1", "true").expect(t, result{1, "", "agent.sock): place: dial unix"}) // and not on this machine alone
	c.gossip = ""
	for i := range c.agents {
		c.start(i)
	}
	for i := range c.agents {
		c.await("the members", func() bool { n := c.nodesOf(i); return len(n) == 2 && n[0].Host.Slots == 2 && n[1].Host.Slots == 2 })
	}
	after := c.theJob(2)
	for i, p := range after.Places {
		if p != before.Places[i] || !alive(p.PID) {
			t.Errorf("%+v, before %+v", p, before.Places[i])
		}
	}
	if free := c.free(); !slices.Equal(free, []int{0, 0}) {
		t.Errorf("%v slots are free", free)
	}
	for _, pid := range pids {
		if !alive(pid) {
			t.Errorf("process %d has died", pid)
		}
	}
	c.launch(1, "kill", after.Job).expect(t, result{0, "", ""})
	r.wait().expect(t, result{143, "", ""})
	c.quiet()
}

// An agent that says that it has started can be asked; one that cannot does not say so.
func TestAgentHasStarted(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1) // which has waited for that
	conn, err := net.Dial("unix", filepath.Join(c.dir, "a/run/agent.sock"))
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if err := os.MkdirAll(filepath.Join(c.dir, "b/run/agent.sock/taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	got := c.launch(1, "agent", "--name", "b", "--bind", "127.0.0.1:0")
	if got.code != 1 || !strings.Contains(got.stderr, "agent.sock: directory not empty") || strings.Contains(got.stderr, "agent started") {
		t.Error(got)
	}
}

// Two launches want slots that suffice for one.
func TestTwoLaunchesRace(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2, 2)
	for range 5 {
		script := sh("echo runs; [ $GOLAUNCH_RANK != 0 ] || cat")
		racers := []*running{
			startCommand(t, c.golaunch(0, with("-n 4", script...)...)),
			startCommand(t, c.golaunch(1, with("-n 4 --map-by host", script...)...)),
		}
		type first struct {
			racer int
			line  string
		}
		said := make(chan first, 2)
		for i, r := range racers {
			go func() {
				line, _ := r.stdout.ReadString('\n')
				said <- first{i, line}
			}()
		}
		won := 0
		for range racers {
			f := <-said
			if r := racers[f.racer]; f.line != "" {
				won++
				r.lines(3, "runs")
			} else {
				r.wait().expect(t, result{launcher.CodeUsage, "", "4 ranks cannot be placed, there is room for "})
				racers[1-f.racer].stdin.Close()
			}
		}
		if won != 1 {
			t.Errorf("%d of two launches have got their slots", won)
		}
		for _, r := range racers {
			r.cmd.Wait()
		}
		c.quiet()
	}
}

// Whoever started a job is gone, in one way or another: nothing is left anywhere.
func TestTerminalVanishes(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1, 1)
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGKILL} {
		r := c.begin(0, with("-n 2", stays...)...)
		pids := r.pids(2)
		r.signal(sig)
		r.cmd.Wait()
		c.await("the ranks' end", func() bool { return !alive(pids[0]) && !alive(pids[1]) })
		c.quiet()
	}
	// These are killed on every host when they have had their time.
	r := c.begin(0, with("-n 2", sh(`trap "" HUP TERM; `+stays[2])...)...)
	pids := r.pids(2)
	r.signal(syscall.SIGHUP)
	r.wait().expect(t, result{128 + int(syscall.SIGHUP), "", "interrupted by SIGHUP\ngolaunch: 2 ranks were stopped"})
	if alive(pids[0]) || alive(pids[1]) {
		t.Error("ranks have outlived their golaunch")
	}
	c.quiet()
	for i := range c.agents {
		if left, _ := os.ReadDir(filepath.Join(c.dir, string(rune('a'+i)), "state/running")); len(left) > 0 {
			t.Error(left)
		}
	}
}

// With more hosts than one has below it, some join through others. One of those is
// lost: its ranks are, and nobody else's.
func TestHostsJoinThroughHosts(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	r := c.begin(9, with("-n 10 --on-failure continue --stdin none", sh(`echo $$; trap "exit 0" TERM; while :; do sleep 0.05; done`)...)...)
	pids := r.pids(10)
	places := c.theJob(10).Places
	parents := func(pid int) []string {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		args := strings.Split(string(line), "\x00")
		i := slices.Index(args, "--join")
		if err != nil || i < 0 {
			t.Fatal(args, err)
		}
		return strings.Split(args[i+1], ",")
	}
	inner := places[0] // a: b joins through it
	if p := parents(places[1].PID); len(p) != 2 || len(parents(inner.PID)) != 1 || p[1] != parents(inner.PID)[0] {
		t.Errorf("%v %v", p, parents(inner.PID))
	}
	syscall.Kill(inner.PID, syscall.SIGKILL)
	c.await("the loss of a rank", func() bool { return slices.ContainsFunc(pids, func(pid int) bool { return !alive(pid) }) })
	c.launch(3, "kill", c.theJob(9).Job).expect(t, result{0, "", ""})
	got := r.wait()
	got.expect(t, result{1, "", "rank 0 (a, process "})
	if n := count(got.stderr, "was lost with its host"); n != 1 {
		t.Errorf("%d ranks were lost: %s", n, got.stderr)
	}
	c.quiet()
}

// Hosts get the program and other files once, and forget a job's directory with it.
func TestProgramsAndFilesAreSent(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1, 1, 1)
	dir := t.TempDir()
	prog, data := filepath.Join(dir, "prog"), filepath.Join(dir, "data")
	os.WriteFile(data, []byte("the data\n"), 0o600)
	script := "#!/bin/sh\necho $GOLAUNCH_HOST $0 $(cat $GOLAUNCH_FILES/in/data)\n"
	os.WriteFile(prog, []byte(script), 0o755)
	want := func(hosts ...string) (lines []string) {
		for _, h := range hosts {
			job := filepath.Join(c.dir, h, "cache/jobs/JOB")
			lines = append(lines, fmt.Sprintf("%s %s/program/prog the data", h, job))
		}
		return lines
	}
	run := func(flags string, sent string, hosts ...string) {
		t.Helper()
		got := c.launch(0, with("-v "+flags, "--file", data+":in/data", prog)...)
		lines := sortedLines(regexp.MustCompile(`jobs/[0-9a-f]{8}\.0`).ReplaceAllString(got.stdout, "jobs/JOB"))
		if got.code != 0 || !slices.Equal(lines, want(hosts...)) || strings.Contains(got.stderr, "sending what") != (sent != "") || !strings.Contains(got.stderr, sent) {
			t.Errorf("%+v", got)
		}
	}
	run("-n 2 --hosts b,c", "sending what 3 hosts lack", "b", "c") // by way of a
	run("-n 3", "", "a", "b", "c")
	os.WriteFile(prog, []byte(script+"exit 0\n"), 0o755)
	run("-n 1 --hosts c", "sending what 2 hosts lack", "c")
	run("-n 3", "sending what ", "a", "b", "c")
	c.launch(0, "--file", data+":../data", prog).expect(t, result{launcher.CodeUsage, "", "data:../data: "})
	c.launch(0, "--file", "/nothing", prog).expect(t, result{launcher.CodeUsage, "", "--file /nothing: open /nothing: no such file"})
	c.launch(0, "--local", "--file", data, prog).expect(t, result{launcher.CodeUsage, "", "--file: it is for jobs over a cluster"})
	c.quiet()
	for _, h := range []string{"a", "b", "c"} {
		c.await("the removal of the jobs' directories", func() bool {
			left, err := os.ReadDir(filepath.Join(c.dir, h, "cache/jobs"))
			return len(left) == 0 && err == nil
		})
	}
}

// From a host that is no member, with the key; then with a key that is changed while
// everything runs.
func TestAgentOfAnotherHost(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1, 1)
	address := strings.Fields(strings.Split(c.launch(0, "nodes").stdout, "\n")[2])[2]
	outside := func(args ...string) result {
		return launchWith(t, func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "GOLAUNCH_AGENT="+address) }, args...)
	}
	outside(with("-n 2 --key-file "+c.key, sh("echo $GOLAUNCH_HOST")...)...).expect(t, result{0, "b\n", ""})
	wrong := filepath.Join(t.TempDir(), "key")
	launch(t, "keygen", wrong).expect(t, result{0, "", ""})
	outside("-n", "2", "--key-file", wrong, "true").expect(t, result{1, "", "the agent at " + address + ": place: "})
	outside("-n", "2", "--key-file", "/nothing", "true").expect(t, result{launcher.CodeUsage, "", "--key-file: open /nothing"})
	outside("nodes", "--key-file", wrong).expect(t, result{1, "", "holds another key"})

	launch(t, "keygen", "--rotate", c.key).expect(t, result{0, "", ""})
	for i := range c.agents {
		c.agents[i].signal(syscall.SIGHUP)
		c.says(i, "key file read again")
	}
	text, err := os.ReadFile(c.key)
	if err != nil {
		t.Fatal(err)
	}
	newest := filepath.Join(t.TempDir(), "newest")
	os.WriteFile(newest, []byte(strings.Join(strings.SplitAfter(string(text), "\n")[:2], "")), 0o600)
	outside("nodes", "--key-file", newest).expect(t, result{0, "b     alive", ""})
	c.launch(0, "-n", "2", "true").expect(t, result{0, "", ""})
	os.WriteFile(c.key, []byte("short"), 0o600)
	c.agents[0].signal(syscall.SIGHUP)
	c.says(0, "the keys stay as they are")
	c.agents[0].signal(syscall.SIGTERM)
	c.agents[0].wait().expect(t, result{0, "", ""})
	c.says(1, "left")
	outside("nodes", "--key-file", newest).expect(t, result{0, "a     left", ""})
}

func TestMistakesAboutAgents(t *testing.T) {
	t.Parallel()
	for want, args := range map[string]string{
		"agent: prog: agent takes flags only":                   "agent prog",
		"agent: unknown flag --slot; did you mean --slots?":     "agent --slot 3",
		"nodes: unknown flag --jsn; did you mean --json?":       "nodes --jsn",
		"it is one of lan, wan, local":                          "agent --profile home",
		"it is NAME=VALUE":                                      "agent --label x",
		"one JOB is needed (golaunch logs --help)":              "logs a b",
		"--agent node-a:7947: --key-file is needed, the cluste": "nodes --agent node-a",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			change := func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "HOME="+t.TempDir()) }
			launchWith(t, change, strings.Fields(args)...).expect(t, result{launcher.CodeUsage, "", want})
		})
	}
	for want, args := range map[string]string{
		"golaunch: nodes: no agent runs on this host (": "nodes",
		"--key-file: open /nothing: no such file":       "agent --key-file /nothing",
		"without a key only loopback may be bound":      "agent --bind 192.0.2.1",
		"--bind 127.0.0.1:99999: the port is 0 to 6553": "agent --bind 127.0.0.1:99999",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			change := func(cmd *exec.Cmd) {
				cmd.Env = append(cmd.Env, "HOME="+dir, "GOLAUNCH_STATE="+dir+"/s", "GOLAUNCH_RUNTIME="+dir+"/r", "GOLAUNCH_CACHE="+dir+"/c")
			}
			code := 1
			if strings.HasPrefix(args, "agent") {
				code = 2 // its options make no sense
			}
			launchWith(t, change, strings.Fields(args)...).expect(t, result{code, "", want})
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("%v is left, %v", left, err)
			}
		})
	}
}
