package proc

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const deadline = 20 * time.Second

// A process has one subreaper and one reaper, and the test's own process uses
// os/exec. So every test body runs in a process of its own: this binary, started
// again with the test's name.
const envBody = "PROC_TEST_BODY"

var bodies = map[string]func() error{
	"exits":      testExits,
	"death":      testDieWithParent,
	"affinity":   testAffinity,
	"slack":      testTimerSlack,
	"strays":     testStrays,
	"runaway":    testRunaway,
	"bystander":  testBystander,
	"wait":       testWait,
	"orphans":    testOrphansAreReaped,
	"signal":     testSignalGroup,
	"startFails": testStartFails,
	"abandoned":  testKillOrphans,
}

func TestMain(m *testing.M) {
	body := bodies[os.Getenv(envBody)]
	if body == nil {
		os.Exit(m.Run())
	}
	if err := body(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func TestChildren(t *testing.T) {
	for name := range bodies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			if name == "bystander" { // a shell that has children becomes the program
				cmd = exec.CommandContext(t.Context(), "/bin/sh", "-c", `sleep 1000 & exec "$0"`, os.Args[0])
			}
			cmd.Env = append(os.Environ(), envBody+"="+name, "GORACE=atexit_sleep_ms=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// shell starts a shell that is to print "ready", and waits for that.
func shell(c *Children, script string) (pid int, exited chan Exit, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, nil, err
	}
	defer r.Close()
	exited = make(chan Exit, 1)
	pid, err = c.Start(Command{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Env: os.Environ(),
		Files: []*os.File{nil, w, os.Stderr}}, func(e Exit) { exited <- e })
	w.Close()
	if err != nil {
		return 0, nil, err
	}
	line, err := bufio.NewReader(r).ReadString('\n')
	if line != "ready\n" {
		return 0, nil, fmt.Errorf("the shell printed %q, %v", line, err)
	}
	return pid, exited, nil
}

func end(exited chan Exit) (Exit, error) {
	select {
	case e := <-exited:
		return e, nil
	case <-time.After(deadline):
		return Exit{}, fmt.Errorf("no exit after %v", deadline)
	}
}

func testExits() error {
	c, err := New()
	if err != nil {
		return err
	}
	for _, tt := range []struct {
		script string
		code   int
		signal syscall.Signal
	}{
		{"echo ready", 0, 0},
		{"echo ready; exit 7", 7, 0},
		{"echo ready; kill -TERM $$", -1, syscall.SIGTERM},
	} {
		_, exited, err := shell(c, tt.script)
		if err != nil {
			return err
		}
		e, err := end(exited)
		if err != nil {
			return err
		}
		if e.Code != tt.code || e.Signal != tt.signal || e.Wall <= 0 || e.MaxRSS <= 0 {
			return fmt.Errorf("%q ended as %+v", tt.script, e)
		}
	}
	return nil
}

// The grandchild prints how it ends; the child that started it is killed.
func testDieWithParent() error {
	if os.Getenv("PROC_TEST_PARENT") != "" {
		c, err := New()
		if err != nil {
			return err
		}
		if _, err = c.Start(Command{Path: "/bin/sleep", Args: []string{"sleep", "1000"}, DieWithParent: true}, func(Exit) {}); err != nil {
			return err
		}
		fmt.Println("ready")
		select {}
	}
	c, err := New()
	if err != nil {
		return err
	}
	os.Setenv("PROC_TEST_PARENT", "yes")
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	pid, err := c.Start(Command{Path: "/proc/self/exe", Args: []string{"x"}, Env: os.Environ(), Files: []*os.File{nil, w}}, func(Exit) {})
	if err != nil {
		return err
	}
	if _, err := bufio.NewReader(r).ReadString('\n'); err != nil {
		return err
	}
	syscall.Kill(pid, syscall.SIGKILL)
	if !c.Wait(deadline) {
		return fmt.Errorf("the grandchild lives on")
	}
	return nil
}

func testAffinity() error {
	c, err := New()
	if err != nil {
		return err
	}
	var before, all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return err
	}
	before = all
	last := -1
	for i := range len(all) * 64 {
		if all.IsSet(i) {
			last = i
		}
	}
	var one unix.CPUSet
	one.Set(last)
	for _, tt := range []struct {
		cpus *unix.CPUSet
		want int
	}{{&one, 1}, {nil, before.Count()}} {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		_, err = c.Start(Command{Path: "/bin/grep", Args: []string{"grep", "Cpus_allowed:", "/proc/self/status"},
			Files: []*os.File{nil, w}, CPUs: tt.cpus}, func(Exit) {})
		w.Close()
		if err != nil {
			return err
		}
		line, _ := bufio.NewReader(r).ReadString('\n')
		if got := bits(line); got != tt.want {
			return fmt.Errorf("%q: %d cpus, want %d", line, got, tt.want)
		}
	}
	return nil
}

// A child has the slack that was asked for, and the next one this process's.
func testTimerSlack() error {
	c, err := New()
	if err != nil {
		return err
	}
	usual, err := os.ReadFile("/proc/self/timerslack_ns")
	if err != nil {
		return err
	}
	for _, tt := range []struct {
		slack time.Duration
		want  string
	}{{time.Millisecond, "1000000\n"}, {0, string(usual)}} {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		_, err = c.Start(Command{Path: "/bin/cat", Args: []string{"cat", "/proc/self/timerslack_ns"},
			Files: []*os.File{nil, w}, TimerSlack: tt.slack}, func(Exit) {})
		w.Close()
		if err != nil {
			return err
		}
		if got, _ := bufio.NewReader(r).ReadString('\n'); got != tt.want {
			return fmt.Errorf("%v: timer slack of %q, want %q", tt.slack, got, tt.want)
		}
	}
	return nil
}

// bits counts the ones in "Cpus_allowed:\t3,ff".
func bits(line string) (n int) {
	_, mask, _ := strings.Cut(line, "\t")
	for _, digit := range strings.ReplaceAll(strings.TrimSpace(mask), ",", "") {
		var v uint
		fmt.Sscanf(string(digit), "%x", &v)
		for ; v > 0; v >>= 1 {
			n += int(v & 1)
		}
	}
	return n
}

// Two descendants leave every group and session of the child, one of them with a
// parent that lives, one whose parent has ended.
func testStrays() error {
	c, err := New()
	if err != nil {
		return err
	}
	_, exited, err := shell(c, `
		setsid sh -c 'setsid sleep 1000 & setsid sh -c "sleep 1000 & echo ready" & wait'  &
		trap "" TERM HUP INT; wait`)
	if err != nil {
		return err
	}
	if strays := c.KillAll(); strays < 3 {
		return fmt.Errorf("%d strays", strays)
	}
	if e, err := end(exited); err != nil || e.Signal != syscall.SIGKILL {
		return fmt.Errorf("the child ended as %+v, %v", e, err)
	}
	if err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG, nil); err != unix.ECHILD {
		return fmt.Errorf("a child is left: %v", err)
	}
	return nil
}

// A process that ends as soon as it has forked its successor is never where the
// last walk has seen it.
func testRunaway() error {
	c, err := New()
	if err != nil {
		return err
	}
	_, _, err = shell(c, `run() { run & }; echo ready; exec >/dev/null; run`)
	if err != nil {
		return err
	}
	done := make(chan int, 1)
	go func() { done <- c.KillAll() }()
	select {
	case <-done:
		return nil
	case <-time.After(deadline):
		return fmt.Errorf("still running")
	}
}

func testBystander() error {
	c, err := New()
	if err != nil {
		return err
	}
	if len(c.bystanders) != 1 {
		return fmt.Errorf("%d bystanders, want the shell's sleep", len(c.bystanders))
	}
	_, exited, err := shell(c, "setsid sleep 1000 & echo ready; wait")
	if err != nil {
		return err
	}
	c.KillAll()
	if _, err := end(exited); err != nil {
		return err
	}
	if n := c.scan(c.isBystander, func(int) {}); n != 0 {
		return fmt.Errorf("%d descendants left", n)
	}
	c.mu.Lock()
	bystanders := maps.Clone(c.bystanders)
	c.mu.Unlock()
	for pid := range bystanders {
		if err := syscall.Kill(pid, 0); err != nil {
			return fmt.Errorf("the bystander: %w", err)
		}
		syscall.Kill(pid, syscall.SIGKILL)
	}
	if !c.Wait(deadline) {
		return fmt.Errorf("the bystander was not reaped")
	}
	return nil
}

func testWait() error {
	c, err := New()
	if err != nil {
		return err
	}
	if !c.Wait(deadline) {
		return fmt.Errorf("there are children before any was started")
	}
	pid, _, err := shell(c, "echo ready; exec sleep 1000")
	if err != nil {
		return err
	}
	if c.Wait(time.Millisecond) {
		return fmt.Errorf("a sleeping child is not waited for")
	}
	c.SignalGroup(pid, syscall.SIGKILL)
	if !c.Wait(deadline) {
		return fmt.Errorf("there still are children")
	}
	return nil
}

func testOrphansAreReaped() error {
	c, err := New()
	if err != nil {
		return err
	}
	_, exited, err := shell(c, "(sleep 0.01; exit 3) & (exit 4) & echo ready; exit 5")
	if err != nil {
		return err
	}
	if e, err := end(exited); err != nil || e.Code != 5 {
		return fmt.Errorf("%+v, %v", e, err)
	}
	if !c.Wait(deadline) {
		return fmt.Errorf("orphans are left")
	}
	return nil
}

// Of two children one dies: what it leaves behind is killed, and the other one's
// tree is not touched.
func testKillOrphans() error {
	c, err := New()
	if err != nil {
		return err
	}
	_, lives, err := shell(c, `setsid sh -c "sleep 1000 & sleep 1000" & echo ready; wait`)
	if err != nil {
		return err
	}
	dies, exited, err := shell(c, `setsid sh -c 'setsid sleep 1000 & setsid sh -c "sleep 1000 & echo ready" & wait' & wait`)
	if err != nil {
		return err
	}
	syscall.Kill(dies, syscall.SIGKILL)
	if _, err := end(exited); err != nil {
		return err
	}
	c.KillOrphans()
	orphans := c.scan(func(pid int) bool { return c.started(pid) }, func(int) {})
	if left := c.scan(c.isBystander, func(int) {}); orphans != 0 || left < 3 {
		return fmt.Errorf("%d orphans and %d descendants are left", orphans, left)
	}
	select {
	case e := <-lives:
		return fmt.Errorf("the other child ended: %+v", e)
	default:
	}
	c.KillAll()
	return nil
}

func testSignalGroup() error {
	c, err := New()
	if err != nil {
		return err
	}
	pid, exited, err := shell(c, `trap : USR1; sh -c 'trap "exit 0" USR1; echo ready; while :; do sleep 0.01; done' & wait; wait; exit 6`)
	if err != nil {
		return err
	}
	c.SignalGroup(pid, syscall.SIGUSR1)
	if e, err := end(exited); err != nil || e.Code != 6 {
		return fmt.Errorf("%+v, %v", e, err)
	}
	c.SignalGroup(pid, syscall.SIGUSR1) // the id may mean somebody else by now
	return nil
}

func testStartFails() error {
	c, err := New()
	if err != nil {
		return err
	}
	if _, err := c.Start(Command{Path: "/does/not/exist", Args: []string{"x"}}, nil); err != syscall.ENOENT {
		return fmt.Errorf("a missing program: %v", err)
	}
	c.KillAll()
	if _, err := c.Start(Command{Path: "/bin/true", Args: []string{"x"}}, nil); err != ErrEnding {
		return fmt.Errorf("after KillAll: %v", err)
	}
	return nil
}
