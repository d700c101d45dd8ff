package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
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

	"github.com/golaunch/golaunch/launcher"
)

// Whatever golaunch dies of, and whenever, nobody survives: neither a rank, nor a
// descendant that has left its session and its parents; and no file stays.
//
// Each case runs in a process of its own that is a subreaper: whoever survives
// golaunch and its supervisor becomes its child, and it ends when it has no child.
func TestNobodySurvivesAKill(t *testing.T) {
	t.Parallel()
	killAtManyMoments(t, "1")
}

// Nor on any of two hosts.
func TestNobodySurvivesAKillOnTwoHosts(t *testing.T) {
	t.Parallel()
	killAtManyMoments(t, "2")
}

func killAtManyMoments(t *testing.T, hosts string) {
	dir := module(t, "package main\nimport \"time\"\nfunc main() { time.Sleep(time.Hour) }\n")
	for seed := range 50 {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), self(), strconv.Itoa(seed), dir, hosts)
			cmd.Env = append(os.Environ(), envRole+"=killcheck", "TMPDIR="+t.TempDir(), "GORACE=atexit_sleep_ms=0")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}

// A rank stops its supervisor, which then can obey nothing.
func TestStoppedSupervisor(t *testing.T) {
	t.Parallel()
	fifo := newFifo(t)
	r := start(t, with("-n 1 -x FIFO="+fifo.Name(), sh("setsid sleep 1000 & kill -STOP $PPID; echo stopped >$FIFO; sleep 1000")...)...)
	if _, err := fifo.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	r.signal(syscall.SIGINT)
	r.signal(syscall.SIGTERM)
	got := r.wait()
	if got.code == 130 { // two signals may change places on their way
		got.code = 143
	}
	got.expect(t, result{143, "", "did not answer; golaunch has killed everything by itself"})
}

// When golaunch and its supervisor are killed together, the kernel kills the ranks,
// though not what has moved away from them.
func TestRanksDieWithBoth(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), self(), "both")
	cmd.Env = append(os.Environ(), envRole+"=killcheck", "TMPDIR="+t.TempDir(), "GORACE=atexit_sleep_ms=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// Nor does anybody on hosts that have joined over a network: the front, a host's
// guardian or its supervisor is killed.
func TestNobodySurvivesAKillOfWhoHasJoined(t *testing.T) {
	t.Parallel()
	for seed := range 12 {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), self(), "joined", strconv.Itoa(seed))
			cmd.Env = append(os.Environ(), envRole+"=killcheck", "TMPDIR="+t.TempDir(), "GORACE=atexit_sleep_ms=0")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}

// killJoined is the subreaper of that test.
func killJoined() {
	seed, err := strconv.Atoi(os.Args[2])
	check(err)
	key := filepath.Join(os.TempDir(), "key")
	check(os.WriteFile(key, []byte("the key of this test"), 0o600))
	r, w, err := os.Pipe()
	check(err)
	os.Setenv(envRole, "golaunch")
	spawn := func(stderr *os.File, args ...string) int {
		pid, err := syscall.ForkExec("/proc/self/exe", append([]string{"golaunch"}, args...),
			&syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, stderr.Fd()}})
		check(err)
		return pid
	}
	front := spawn(w, "-v", "--listen", "127.0.0.1:0", "--hosts", "2", "--secret-file", key, "-n", "3", "sh", "-c", stray)
	said := bufio.NewReader(r)
	until := func(text string) string {
		for {
			line, err := said.ReadString('\n')
			check(err)
			if strings.Contains(line, text) {
				return line
			}
		}
	}
	address := strings.Fields(until("waiting at"))[3]
	victims := []int{front}
	for _, name := range []string{"a", "b"} {
		victims = append(victims, spawn(os.Stderr, "supervise", "--join", address, "--secret-file", key, "--host", name))
	}
	until("2 of 2 are here")
	go io.Copy(io.Discard, said)
	victims = append(victims, supervisorsOf(victims[1])...)
	victims = append(victims, supervisorsOf(victims[2])...)
	random := rand.New(rand.NewPCG(uint64(seed), 9))
	moment := random.IntN(40_000)
	<-time.After(time.Duration(moment) * time.Microsecond) // the moment, not a wait for something
	victim := seed % len(victims)
	check(syscall.Kill(victims[victim], syscall.SIGKILL))
	fmt.Printf("killed %s after %d us\n", []string{"the front", "a's guardian", "b's guardian", "a's supervisor", "b's supervisor"}[victim], moment)
	check(awaitNobody(front, victim == 0))
	os.Exit(0)
}

// killBoth is the subreaper of that test.
func killBoth() {
	r, w, err := os.Pipe()
	check(err)
	os.Setenv(envRole, "golaunch")
	front, err := syscall.ForkExec("/proc/self/exe", []string{"golaunch", "-n", "2", "sh", "-c", "echo ready; exec sleep 1000"},
		&syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, w.Fd(), 2}})
	check(err)
	_, err = io.ReadFull(r, make([]byte, len("ready\nready\n")))
	check(err)
	syscall.Kill(front, syscall.SIGSTOP) // so that it cannot react to the first kill
	syscall.Kill(supervisorsOf(front)[0], syscall.SIGKILL)
	syscall.Kill(front, syscall.SIGKILL)
	check(awaitNobody(front, true))
	os.Exit(0)
}

// stray starts a process that has a session of its own and no parent left, one
// that has a session of its own, and stays itself, deaf to what can be ignored.
const stray = `(setsid sh -c "sleep 1000 & sleep 1000" &); trap "" TERM HUP INT; setsid sleep 1000 & sleep 1000`

// killCheck is the subreaper: it starts a job, kills golaunch or its supervisor
// after a while that the seed decides, and exits with 0 if nobody survives.
func killCheck() {
	check(unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
	switch os.Args[1] {
	case "both":
		killBoth()
	case "joined":
		killJoined()
	}
	seed, err := strconv.Atoi(os.Args[1])
	check(err)
	r := rand.New(rand.NewPCG(uint64(seed), 7))
	args, moment := []string{"-n", "3", "sh", "-c", stray}, r.IntN(40_000)
	switch seed % 6 { // even seeds kill the front, odd ones a supervisor
	case 2, 3:
		args = append([]string{"-n", "2"}, append(program("hang"), ":", "-n", "1", "sh", "-c", stray)...)
	case 4, 5:
		args, moment = []string{"-n", "2", os.Args[2], ":", "sh", "-c", stray}, r.IntN(500_000)
	}
	args = append([]string{"golaunch", "--virtual-hosts", os.Args[3]}, args...)
	os.Setenv(envRole, "golaunch")
	front, err := syscall.ForkExec("/proc/self/exe", args, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}})
	check(err)
	<-time.After(time.Duration(moment) * time.Microsecond) // the moment, not a wait for something
	victim := front
	if s := supervisorsOf(front); seed%2 == 1 && len(s) > 0 {
		victim = s[r.IntN(len(s))]
	}
	check(syscall.Kill(victim, syscall.SIGKILL))
	fmt.Printf("killed %s after %d us\n", map[bool]string{true: "the front", false: "the supervisor"}[victim == front], moment)
	check(awaitNobody(front, victim == front))
	files, err := filepath.Glob(filepath.Join(os.TempDir(), "*"))
	check(err)
	if len(files) > 0 {
		check(fmt.Errorf("files are left: %v", files))
	}
	os.Exit(0)
}

func check(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// supervisorsOf lists the supervisors that a front has started so far, in the order
// of their process ids.
func supervisorsOf(front int) (pids []int) {
	for _, pid := range childrenOf(front) {
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.HasPrefix(string(name), launcher.SupervisorName) {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

func childrenOf(parent int) (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, stat := range stats {
		b, _ := os.ReadFile(stat)
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// awaitNobody reaps until there is no child. A front that was not killed must end
// with code 1.
func awaitNobody(front int, killed bool) error {
	over := time.AfterFunc(deadline, func() {
		check(fmt.Errorf("children after %v: %v", deadline, childrenOf(os.Getpid())))
	})
	defer over.Stop()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.ECHILD:
			return nil
		case err == syscall.EINTR:
		case err != nil:
			return err
		case pid == front && !killed && status.ExitStatus() != 1:
			return fmt.Errorf("golaunch without its supervisor ended with %v", status)
		}
	}
}
