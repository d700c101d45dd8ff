package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// parentsOf7 is a tree of seven hosts: the root has two, and they two each; one of
// those has another.
var parentsOf7 = []int{-1, 0, 0, 1, -1, 4, 4}

// grow starts a host for each of parents (-1: the front), called h0, h1 and so on, so
// that rank i is on host i when there are as many.
func (n *network) grow(parents []int, flags ...string) (hosts []*running) {
	n.t.Helper()
	joins := make([]string, len(parents))
	for i, p := range parents {
		join := n.address
		if p >= 0 {
			join = joins[p]
		}
		h, at := n.treeHost(fmt.Sprint("h", i), join, flags...)
		hosts, joins[i] = append(hosts, h), at+","+join
	}
	return hosts
}

// treeHost starts a host that lets others join through it, and returns where.
func (n *network) treeHost(name, join string, flags ...string) (h *running, at string) {
	n.t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		n.t.Fatal(err)
	}
	defer r.Close()
	args := []string{"supervise", "--join", join, "--secret-file", n.key, "--host", name, "--serve", "127.0.0.1:0", "--ready-fd", "3"}
	cmd := golaunch(n.t, append(args, flags...)...)
	cmd.ExtraFiles = []*os.File{w}
	h = startCommand(n.t, cmd)
	w.Close()
	at, err = bufio.NewReader(r).ReadString('\n')
	if err != nil {
		n.t.Fatalf("host %s does not say where it serves: %v", name, err)
	}
	return h, strings.TrimSpace(at)
}

// A host says that it has joined when it has, and nothing when it cannot.
func TestHostSaysThatItHasJoined(t *testing.T) {
	t.Parallel()
	n := listening(t, 1, sh("true")...)
	says := func(join string, flags ...string) string {
		t.Helper()
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		cmd := golaunch(t, append([]string{"supervise", "--join", join, "--secret-file", n.key, "--ready-fd", "3"}, flags...)...)
		cmd.ExtraFiles = []*os.File{w}
		startCommand(t, cmd)
		w.Close()
		said, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(said)
	}
	if got := says("127.0.0.1:1", "--wait", "100ms"); got != "" {
		t.Errorf("it cannot join, and says %q", got)
	}
	if got := says("127.0.0.1:1", "--wait", "100ms", "--serve", "127.0.0.1:0"); !strings.HasPrefix(got, "127.0.0.1:") || count(got, "\n") != 1 {
		t.Errorf("it serves others and cannot join, and says %q", got)
	}
	if got := says(n.address, "--serve", "127.0.0.1:0"); !strings.HasSuffix(got, "\njoined\n") || count(got, "\n") != 2 {
		t.Errorf("it serves others and has joined, and says %q", got)
	}
	n.ends(0)
}

// supervisorOf is the process that a host's guardian has started.
func supervisorOf(h *running) int { return supervisorsOf(h.cmd.Process.Pid)[0] }

// counting is a script that prints so many numbers.
func counting(most int) []string {
	return sh(fmt.Sprintf("i=0; while [ $i -lt %d ]; do echo $i,; i=$((i+1)); done", most))
}

// A tally is what ranks have printed, without the newlines: golaunch ends the line of a
// rank that is silent in the middle of one.
type tally map[int]*strings.Builder

// read adds a line of tagged output; false: there is none.
func (c tally) read(n *network) bool {
	n.t.Helper()
	line, err := n.front.stdout.ReadString('\n')
	if err == io.EOF && line == "" {
		return false
	}
	var rank int
	_, text, tagged := strings.Cut(line, "] ")
	if _, scanErr := fmt.Sscanf(line, "[%d]", &rank); err != nil || scanErr != nil || !tagged {
		n.t.Fatalf("%q, %v", line, err)
	}
	if c[rank] == nil {
		c[rank] = &strings.Builder{}
	}
	c[rank].WriteString(strings.TrimSuffix(text, "\n"))
	return true
}

// complete reads the rest, and checks that each of seven ranks has printed everything;
// one, if it is not -1, may have been cut off.
func (c tally) complete(n *network, most, but int) {
	n.t.Helper()
	for c.read(n) {
	}
	var want strings.Builder
	for i := range most {
		fmt.Fprint(&want, i, ",")
	}
	for rank := range 7 {
		got := ""
		if c[rank] != nil {
			got = c[rank].String()
		}
		if got != want.String() && (rank != but || !strings.HasPrefix(want.String(), got)) {
			n.t.Errorf("rank %d printed %d bytes of %d, or in another order", rank, len(got), want.Len())
		}
	}
}

func TestTreeOfHosts(t *testing.T) {
	t.Parallel()
	n := listening(t, 7, with("-n 7 --tag-output", counting(500)...)...)
	hosts := n.grow(parentsOf7)
	tally{}.complete(n, 500, -1)
	n.ends(0)
	for _, h := range hosts {
		h.wait().expect(t, result{0, "", ""})
	}
}

// What ranks tell each other at first reaches every host.
func TestRanksMeetOverATree(t *testing.T) {
	t.Parallel()
	n := listening(t, 7, with("-n 7", program("meet")...)...)
	hosts := n.grow(parentsOf7)
	got := n.front.wait()
	for i, line := range sortedLines(got.stdout) {
		if !strings.HasPrefix(line, fmt.Sprintf("rank %d: host %d of 7, on h%d, ", i, i, i)) {
			t.Errorf("%q", line)
		}
	}
	if got.code != 0 || count(got.stdout, "\n") != 7 {
		t.Errorf("code %d\n%s", got.code, got.stdout)
	}
	for _, h := range hosts {
		h.wait().expect(t, result{0, "", ""})
	}
}

// A host in between is lost while all print: the others' output is complete, and its
// own rank is lost, at once if it dies.
func TestInnerHostIsLost(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(guardian, supervisor int){
		"killed": func(_, supervisor int) { syscall.Kill(supervisor, syscall.SIGKILL) },
		"silent": func(guardian, supervisor int) {
			syscall.Kill(guardian, syscall.SIGSTOP)
			syscall.Kill(supervisor, syscall.SIGSTOP)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const most = 20_000 // more than what may be under way
			n := listening(t, 7, with("-n 7 --tag-output --on-failure continue --failure-timeout 3", counting(most)...)...)
			hosts := n.grow(parentsOf7)
			printed := tally{}
			for range 700 {
				printed.read(n)
			}
			guardian, supervisor := hosts[0].cmd.Process.Pid, supervisorOf(hosts[0])
			lose(guardian, supervisor)
			printed.complete(n, most, 0)
			n.says(" was lost with its host")
			n.ends(1)
			syscall.Kill(supervisor, syscall.SIGCONT)
			syscall.Kill(guardian, syscall.SIGCONT)
			if got := hosts[0].wait(); got.code == 0 {
				t.Errorf("the lost host: %+v", got)
			}
			for _, h := range hosts[1:] {
				h.wait().expect(t, result{0, "", ""})
			}
		})
	}
}

// A host in between dies while others join through it.
func TestInnerHostIsLostDuringLaunch(t *testing.T) {
	t.Parallel()
	n := listening(t, 7, with("-v -n 7 --tag-output", counting(10)...)...)
	hosts := n.grow(parentsOf7[:6])
	n.says("5 of 7 are here")
	syscall.Kill(supervisorOf(hosts[0]), syscall.SIGKILL)
	n.says("host h0 has gone again; ")
	hosts[0].wait()
	again, _ := n.treeHost("h0", n.address)
	last, _ := n.treeHost("h6", n.address)
	tally{}.complete(n, 10, -1)
	n.ends(0)
	for _, h := range append(hosts[1:], again, last) {
		h.wait().expect(t, result{0, "", ""})
	}
}

// The front dies: no rank survives, however deep its host is in the tree, and nobody
// waits for the failure timeout.
func TestNobodySurvivesTheFrontOfATree(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	alive, err := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	n := listening(t, 7, with("-n 7 --failure-timeout 600", sh("exec 9>"+fifo+`; trap "" TERM HUP; setsid sleep 1000 & echo running; sleep 1000`)...)...)
	hosts := n.grow(parentsOf7)
	n.front.lines(7, "running")
	n.front.signal(syscall.SIGKILL)
	for i, h := range hosts {
		if got := h.wait(); got.code != 1 || !strings.Contains(got.stderr, "golaunch: supervise: the front at "+n.address+" is ") {
			t.Errorf("host %d: %+v", i, got)
		}
	}
	alive.SetReadDeadline(time.Now().Add(deadline))
	if k, err := alive.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("somebody holds the fifo: %d, %v", k, err)
	}
}
