package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestSignalsAreForwarded(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		name := strings.TrimPrefix(unix.SignalName(sig), "SIG")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, with("-n 2", sh("echo ready; sleep 1000")...)...)
			r.lines(2, "ready")
			r.signal(sig)
			r.wait().expect(t, result{128 + int(sig), "", "golaunch: interrupted by SIG" + name + "\n"})
		})
		t.Run(name+" handled", func(t *testing.T) {
			t.Parallel()
			r := start(t, with("-n 2", sh("trap 'echo caught; exit 0' "+name+"; echo ready; while :; do sleep 0.01; done")...)...)
			r.lines(2, "ready")
			r.signal(sig)
			r.wait().expect(t, result{0, "caught\ncaught\n", ""})
		})
	}
}

func TestUserSignalsAreForwarded(t *testing.T) {
	t.Parallel()
	r := start(t, with("-n 2", sh("trap 'echo caught' USR1; echo ready; while :; do sleep 0.01; done")...)...)
	r.lines(2, "ready")
	for range 2 {
		r.signal(syscall.SIGUSR1)
		r.lines(2, "caught")
	}
}

// A signal that asks to end does, whenever it comes, and is the reason that is told.
func TestSignalAtAnyMoment(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			t.Parallel()
			moment := time.Duration(rand.New(rand.NewPCG(seed, 0)).IntN(80)) * time.Millisecond
			r := start(t, "-n", "4", "--virtual-hosts", strconv.Itoa(1+int(seed%2)), "sleep", "1000")
			<-time.After(moment)
			r.signal(syscall.SIGTERM)
			if got := r.wait(); got.code != 143 && got.code != -1 { // -1: golaunch had not begun
				t.Errorf("after %v: %+v", moment, got)
			}
		})
	}
}

func TestASecondSignalKills(t *testing.T) {
	t.Parallel()
	r := start(t, with("-n 2", sh(`trap "echo caught" INT; trap "echo caught too" TERM; echo ready; while :; do sleep 0.01; done`)...)...)
	r.lines(2, "ready")
	r.signal(syscall.SIGINT)
	r.lines(2, "caught")
	r.signal(syscall.SIGTERM)
	r.wait().expect(t, result{128 + 15, "", "interrupted by SIGTERM\ngolaunch: 2 ranks were stopped"})
}

func TestQuitPrintsGoroutines(t *testing.T) {
	t.Parallel()
	r := start(t, with("-n 3 --tag-output", program("hang")...)...)
	for range 3 {
		if line, err := r.stdout.ReadString('\n'); !strings.HasSuffix(line, "hanging\n") {
			t.Fatal(line, err)
		}
	}
	r.signal(syscall.SIGQUIT)
	got := r.wait()
	got.expect(t, result{131, "", "golaunch: interrupted by SIGQUIT"})
	for _, rank := range []string{"[0]", "[1]", "[2]"} {
		if !strings.Contains(got.stderr, rank+"<stderr> goroutine 1 ") || !strings.Contains(got.stderr, rank+"<stderr> SIGQUIT: quit") {
			t.Errorf("rank %s did not print its goroutines:\n%s", rank, got.stderr)
		}
	}
}

// While golaunch is stopped, its ranks tell through a fifo that they were.
func TestStopAndContinue(t *testing.T) {
	t.Parallel()
	told := newFifo(t)
	r := start(t, with("-n 2 -x FIFO="+told.Name(),
		sh(`trap "echo told to stop >$FIFO" TSTP; trap "echo goes on; exit 0" CONT; echo ready; while :; do sleep 0.01 & wait; done`)...)...)
	r.lines(2, "ready")
	r.signal(syscall.SIGTSTP)
	var status unix.WaitStatus
	if _, err := unix.Wait4(r.cmd.Process.Pid, &status, unix.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("golaunch did not stop: %v, %v", status, err)
	}
	lines := bufio.NewReader(told)
	for range 2 {
		if line, err := lines.ReadString('\n'); line != "told to stop\n" {
			t.Fatal(line, err)
		}
	}
	r.signal(syscall.SIGCONT)
	got := r.wait()
	got.expect(t, result{0, "goes on\ngoes on\n", ""})
}

func TestNohup(t *testing.T) {
	t.Parallel()
	inner := golaunch(t, with("-n 1", sh("echo ready; read x; exit 5")...)...)
	cmd := exec.CommandContext(t.Context(), "/bin/sh", append([]string{"-c", `trap "" HUP; exec "$@"`, "sh"}, inner.Args...)...)
	cmd.Env = inner.Env
	r := startCommand(t, cmd)
	r.lines(1, "ready")
	r.signal(syscall.SIGHUP)
	r.stdin.Close()
	r.wait().expect(t, result{5, "", "exited with code 5"})
}
