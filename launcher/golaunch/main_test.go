package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/golaunch/golaunch/launcher"
	"github.com/golaunch/golaunch/launcher/boot"
)

const deadline = 20 * time.Second

// This binary is the test, golaunch (front and supervisor), the ranks, and the
// subreaper of the kill test.
const envRole = "GOLAUNCH_TEST_ROLE"

// envVersion makes golaunch another version.
const envVersion = "GOLAUNCH_TEST_VERSION"

func TestMain(m *testing.M) {
	role := os.Getenv(envRole)
	switch {
	case role == "":
		standApart()
		os.Exit(m.Run())
	case role == "golaunch" || os.Args[0] == launcher.SupervisorName:
		if other := os.Getenv(envVersion); other != "" {
			boot.Version = other
		}
		main()
	case role == "killcheck":
		killCheck()
	}
	if err := roles[role](); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// standApart keeps the tests from an agent that this host has: they have their own.
func standApart() {
	os.Unsetenv("GOLAUNCH_AGENT")
	os.Setenv("GOLAUNCH_RUNTIME", "/nonexistent")
}

// roles are what ranks of the tests do.
var roles = map[string]func() error{
	"member":    func() error { return join().Leave() },
	"noGoodbye": func() error { join(); return nil },
	"old": func() error {
		boot.Version = "0.0.1"
		_, err := boot.Connect(context.Background())
		return err
	},
	"abort": func() error {
		s := join()
		if s.Rank() == 1 {
			return s.Abort(42, "the data is bad")
		}
		select {}
	},
	"hang": func() error {
		join()
		fmt.Println("hanging")
		select {}
	},
	"panic": panics,
	"meet":  meet,
	"watch": watch,

	"failLast": failLast,
	"tell":     tell,
	"twice": func() error {
		join()
		_, err := boot.Connect(context.Background())
		return err
	},
}

func join() *boot.Session {
	s, err := boot.Connect(context.Background())
	if err == nil && s == nil {
		err = fmt.Errorf("not started by golaunch")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return s
}

// panics as rank 1 with a deferred Leave; rank 0 fails as soon as rank 1 has left.
func panics() error {
	s := join()
	if s.Rank() == 1 {
		defer s.Leave()
		panic("boom")
	}
	_, err := s.Open(context.Background(), 1, 1)
	return err
}

// program is what golaunch's arguments name to run this binary in a role.
func program(role string) []string { return []string{"-x", envRole + "=" + role, self()} }

func self() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}

// command returns golaunch with arguments, not started.
func golaunch(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, self(), args...)
	cmd.Env = append(os.Environ(), envRole+"=golaunch", "GORACE=atexit_sleep_ms=0", "TMPDIR="+t.TempDir(), "GOLAUNCH_RUNTIME=/nonexistent")
	return cmd
}

// A result is how a run of golaunch ended.
type result struct {
	code           int
	stdout, stderr string
}

// launch runs golaunch to its end.
func launch(t *testing.T, args ...string) result {
	t.Helper()
	return launchWith(t, nil, args...)
}

func launchWith(t *testing.T, change func(*exec.Cmd), args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := golaunch(t, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if change != nil {
		change(cmd)
	}
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	r := result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
	if r.code < 0 {
		t.Fatalf("golaunch %v: %v\n%s%s", args, err, r.stdout, r.stderr)
	}
	return r
}

// expect compares a result; want's texts must occur.
func (r result) expect(t *testing.T, want result) {
	t.Helper()
	if r.code != want.code || !strings.Contains(r.stdout, want.stdout) || !strings.Contains(r.stderr, want.stderr) {
		t.Errorf("code %d, stdout:\n%s\nstderr:\n%s\nwant code %d and\n%s\n%s", r.code, r.stdout, r.stderr, want.code, want.stdout, want.stderr)
	}
}
