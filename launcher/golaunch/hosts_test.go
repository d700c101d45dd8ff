package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/golaunch/golaunch/launcher"
	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/runtime/job"
)

// joinMemory joins and maps the job's memory.
func joinMemory() (*boot.Session, *job.Memory) {
	s := join()
	mem, err := job.Map(s.JobMemory())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	mem.SetRank(s.Rank())
	mem.SetHostNames(s.HostNames())
	return s, mem
}

// await sleeps on the rank's bell until ready.
func await(mem *job.Memory, rank int, ready func() bool) {
	for {
		ticket := mem.Drowse(rank)
		if ready() {
			mem.Wake(rank)
			return
		}
		mem.Sleep(rank, ticket)
		mem.Wake(rank)
	}
}

// meet waits until it knows every rank's address, says where it is, and leaves.
func meet() error {
	s, mem := joinMemory()
	if err := s.SetAddress(fmt.Append(nil, "address of ", s.Rank())); err != nil {
		return err
	}
	for rank := range s.Size() {
		await(mem, s.Rank(), func() bool { return mem.Address(rank) != nil })
		if got := string(mem.Address(rank)); got != fmt.Sprint("address of ", rank) {
			return fmt.Errorf("rank %d announced %q", rank, got)
		}
	}
	var local []int
	for rank := range s.Size() {
		if mem.Local(rank) {
			local = append(local, rank)
		}
	}
	fmt.Printf("rank %d: host %d of %d, on %s, beside %v, %d sharers, %s, secret of %d bytes\n", s.Rank(), mem.Host(), mem.Hosts(),
		s.Host(), local, mem.Sharers(), s.Settings().Transport, len(s.Secret()))
	if s.Host() != s.HostNames()[mem.Host()] {
		return fmt.Errorf("host %d is %q and is called %q", mem.Host(), s.Host(), s.HostNames()[mem.Host()])
	}
	if err := s.Report(fmt.Appendf(nil, `{"paths":{"shm":{"ops":%d,"bytes":10,"wait_ns":1000000}}}`, s.Rank())); err != nil {
		return err
	}
	return s.Leave()
}

// watch waits for the failure of every other rank, or for its own.
func watch() error {
	s, mem := joinMemory()
	fmt.Println("watching")
	for rank := range s.Size() {
		if rank != s.Rank() {
			await(mem, s.Rank(), func() bool { return mem.Failure(rank) != nil })
			fmt.Fprintln(os.Stderr, mem.Failure(rank))
		}
	}
	return s.Leave()
}

// failLast exits with 3 once rank 0 has joined and rank 1 has ended.
func failLast() error {
	s, mem := joinMemory()
	await(mem, s.Rank(), func() bool { return mem.Failure(1) != nil })
	for state, _ := mem.State(0); state != job.Joined; state, _ = mem.State(0) {
		runtime.Gosched() // joining rings nobody
	}
	os.Exit(3)
	return nil
}

// tell says in the file named by FIFO why rank 1 failed, and stays.
func tell() error {
	s, mem := joinMemory()
	fmt.Println("telling")
	await(mem, s.Rank(), func() bool { return mem.Failure(1) != nil })
	fifo, err := os.OpenFile(os.Getenv("FIFO"), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	fmt.Fprintln(fifo, mem.Failure(1))
	select {}
}

func sortedLines(text string) []string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(lines)
	return lines
}

func TestWhoIsWhere(t *testing.T) {
	t.Parallel()
	h := host(t)
	for _, tt := range []struct {
		name, flags string
		want        []string
	}{
		{"one host", "-n 2", []string{
			"rank 0: host 0 of 1, on H, beside [0 1], 2 sharers, auto, secret of 32 bytes",
			"rank 1: host 0 of 1, on H, beside [0 1], 2 sharers, auto, secret of 32 bytes"}},
		{"two hosts", "-n 5 --virtual-hosts 2", []string{
			"rank 0: host 0 of 2, on H/0, beside [0 1 2], 5 sharers, auto, secret of 32 bytes",
			"rank 1: host 0 of 2, on H/0, beside [0 1 2], 5 sharers, auto, secret of 32 bytes",
			"rank 2: host 0 of 2, on H/0, beside [0 1 2], 5 sharers, auto, secret of 32 bytes",
			"rank 3: host 1 of 2, on H/1, beside [3 4], 5 sharers, auto, secret of 32 bytes",
			"rank 4: host 1 of 2, on H/1, beside [3 4], 5 sharers, auto, secret of 32 bytes"}},
		{"one host without shared memory", "-n 2 --transport tcp", []string{
			"rank 0: host 0 of 2, on H, beside [0], 2 sharers, tcp, secret of 32 bytes",
			"rank 1: host 1 of 2, on H, beside [1], 2 sharers, tcp, secret of 32 bytes"}},
		{"two hosts without shared memory", "-n 3 --virtual-hosts 2 --transport tcp", []string{
			"rank 0: host 0 of 3, on H/0, beside [0], 3 sharers, tcp, secret of 32 bytes",
			"rank 1: host 1 of 3, on H/0, beside [1], 3 sharers, tcp, secret of 32 bytes",
			"rank 2: host 2 of 3, on H/1, beside [2], 3 sharers, tcp, secret of 32 bytes"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := launch(t, with(tt.flags, program("meet")...)...)
			got.expect(t, result{0, "", ""})
			if lines := sortedLines(strings.ReplaceAll(got.stdout, "on "+h, "on H")); !slices.Equal(lines, tt.want) {
				t.Errorf("%s", strings.Join(lines, "\n"))
			}
		})
	}
}

// What becomes of a rank is known on every host, and by what name it goes there.
func TestFailureReachesEveryHost(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, end, want string }{
		{"killed", "kill -KILL $$", "killed by signal 9 (killed)"},
		{"exit code", "exit 3", "exited with code 3"},
		{"without joining", "exit 0", "it exited without leaving the job"},
		{"left", "exec env " + envRole + "=member " + self(), "it has left the job"},
		{"cannot be started", "", "it could not be started"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			args := append(program("watch"), append([]string{":"}, sh(tt.end)...)...)
			if tt.end == "" {
				bad := t.TempDir() + "/bad"
				os.WriteFile(bad, []byte("no program"), 0o755)
				args = append(program("watch"), ":", bad)
			}
			got := launch(t, with("--virtual-hosts 2 --on-failure continue -n 1", args...)...)
			if want := "rank 1 (" + host(t) + "/1) failed: " + tt.want + "\n"; !strings.Contains(got.stderr, want) {
				t.Errorf("%s\nwant %s", got.stderr, want)
			}
		})
	}
}

// One of two supervisors is killed: its ranks die, and the others learn of it.
func TestOneSupervisorIsKilled(t *testing.T) {
	t.Parallel()
	for policy, want := range map[string]result{
		"abort":    {1, "", "; its ranks were lost with it\ngolaunch: rank 1 ("},
		"continue": {1, "", "rank 1 (" + host(t) + "/1) failed: its host was lost\n"},
	} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			r := start(t, with("--virtual-hosts 2 -n 2 --on-failure "+policy, program("watch")...)...)
			r.lines(2, "watching")
			syscall.Kill(supervisorsOf(r.cmd.Process.Pid)[1], syscall.SIGKILL)
			got := r.wait()
			got.expect(t, want)
			got.expect(t, result{1, "", "golaunch: the supervisor of host " + host(t) + "/1 (process "})
			got.expect(t, result{1, "", "was lost with its host"})
		})
	}
}

func TestInputAndOutputOfHosts(t *testing.T) {
	t.Parallel()
	r := start(t, with("--virtual-hosts 2 -n 3 --stdin all --tag-output", sh("while read x; do echo $x; done; echo end >&2")...)...)
	long := strings.Repeat("0123456789abcde\n", 10_000)
	go func() { r.stdin.Write([]byte(long)); r.stdin.Close() }()
	got := r.wait()
	got.expect(t, result{0, "", "[0]<stderr> end\n"})
	got.expect(t, result{0, "", "[2]<stderr> end\n"})
	for rank := range 3 {
		if n := count(got.stdout, fmt.Sprintf("[%d] 0123456789abcde\n", rank)); n != 10_000 {
			t.Errorf("rank %d has shown %d lines", rank, n)
		}
	}
	// A host without readers does not hold up the others.
	r = start(t, with("--virtual-hosts 2 -n 2 --stdin 1", sh("cat")...)...)
	go func() { r.stdin.Write([]byte(long)); r.stdin.Close() }()
	if got := r.wait(); got.code != 0 || got.stdout != long {
		t.Errorf("code %d, %d bytes", got.code, len(got.stdout))
	}
}

func TestSignalsReachEveryHost(t *testing.T) {
	t.Parallel()
	r := start(t, with("--virtual-hosts 2 -n 2", sh(`trap "echo caught; exit 0" INT; echo ready; while :; do sleep 0.01; done`)...)...)
	r.lines(2, "ready")
	r.signal(syscall.SIGINT)
	r.lines(2, "caught")
	r.wait().expect(t, result{0, "", ""})
}

func TestTimeoutOnEveryHost(t *testing.T) {
	t.Parallel()
	launch(t, with("--virtual-hosts 2 -n 2 --timeout 0.2", sh("sleep 1000")...)...).expect(t, result{124, "", "2 ranks were stopped"})
}

// Ranks of different hosts on one machine do not share a core if there are enough.
func TestBindingOverHosts(t *testing.T) {
	t.Parallel()
	show := sh("echo $GOLAUNCH_RANK $(grep Cpus_allowed_list /proc/self/status)")
	one := sortedLines(launch(t, with("-n 2 --bind-to core", show...)...).stdout)
	two := sortedLines(launch(t, with("-n 2 --bind-to core --virtual-hosts 2", show...)...).stdout)
	if len(one) != 2 || !slices.Equal(one, two) {
		t.Errorf("on one host %q, on two %q", one, two)
	}
}

func TestReportOfHosts(t *testing.T) {
	t.Parallel()
	got := launch(t, with("--virtual-hosts 2 -n 3 --json --stats", program("meet")...)...)
	got.expect(t, result{0, "", "golaunch: paths between ranks:\n"})
	got.expect(t, result{0, "", "       2  shm              2               10      0.001 s\n     all  shm              3               30      0.003 s\n"})
	r := parseReport(t, got.stdout[strings.Index(got.stdout, "{"):])
	for i, want := range []string{"/0", "/0", "/1"} {
		if r.Ranks[i].Host != host(t)+want || r.Ranks[i].Paths["shm"] != (path{int64(i), 10, 1e6}) {
			t.Errorf("rank %d: %+v", i, r.Ranks[i])
		}
	}
	if r.Paths["shm"] != (path{3, 30, 3e6}) {
		t.Errorf("%+v", r.Paths)
	}
	launch(t, "--stats", "true").expect(t, result{0, "", "golaunch: --stats: no rank has reported anything\n"})
	dir := t.TempDir()
	launch(t, with("--virtual-hosts 2 -n 2 --output-dir "+dir, sh("echo out $GOLAUNCH_RANK")...)...).expect(t, result{0, "", ""})
	for rank := range 2 {
		if text, err := os.ReadFile(fmt.Sprintf("%s/rank-%d.out", dir, rank)); err != nil || string(text) != fmt.Sprintf("out %d\n", rank) {
			t.Errorf("%q, %v", text, err)
		}
	}
}

func TestPackageOnTwoHosts(t *testing.T) {
	t.Parallel()
	dir := module(t, "package main\nimport (\"fmt\"; \"os\")\nfunc main() { fmt.Println(os.Getenv(`GOLAUNCH_HOST`)) }\n")
	got := launch(t, "--virtual-hosts", "2", "-n", "1", dir, ":", dir)
	if lines := sortedLines(got.stdout); got.code != 0 || !slices.Equal(lines, []string{host(t) + "/0", host(t) + "/1"}) {
		t.Errorf("%+v", got)
	}
}

func TestMistakesAboutHosts(t *testing.T) {
	t.Parallel()
	for want, args := range map[string]string{
		"--virtual-hosts 0: the number of hosts is 1 or more":                                     "--virtual-hosts 0 true",
		"--virtual-hosts 3: the job has 2 ranks, and each host needs one at least":                "--virtual-hosts 3 -n 2 true",
		"--virtual-hosts 2: the job has 1 rank, and each host needs one at least":                 "--virtual-hosts 2 true",
		"--transport shm: 2 hosts share no memory":                                                "--virtual-hosts 2 --transport shm -n 2 true",
		"--interface nothing0: there is no such network interface":                                "--interface nothing0 true",
		"it is one of auto, shm, tcp":                                                             "--transport rdma true",
		"unknown flag --virtual-host; did you mean --virtual-hosts?":                              "--virtual-host 2 true",
		"unknown flag --stat; did you mean --stats?":                                              "--stat true",
		"invalid argument \"0\" for \"--failure-timeout\" flag: it is a positive time such as 90": "--failure-timeout 0 true",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			launch(t, strings.Fields(args)...).expect(t, result{launcher.CodeUsage, "", want})
		})
	}
}
