package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/golaunch/golaunch/runtime/world"
)

// demo is a program whose run does what a test wants.
func demo(run func(comm *world.Comm, out io.Writer) error) Program[int] {
	return Program[int]{
		Name: "demo",
		Parse: func(args []string, help io.Writer) (int, error) {
			flags := Flags("demo", "demo shows.\n", help)
			n := flags.Int("n", 3, "how many")
			err := ParseOnly(flags, args)
			return *n, err
		},
		Run: func(_ context.Context, comm *world.Comm, _ int, out io.Writer) error { return run(comm, out) },
	}
}

const (
	help = "demo shows.\n\nFlags:\n      --n int   how many (default 3)\n"
	hint = "\ndemo --help tells how to use it\n"
)

// TestStart runs programs as worlds of one rank.
func TestStart(t *testing.T) {
	for _, tt := range []struct {
		name      string
		args      []string
		err       error // of Run
		code      int
		out, errs string
	}{
		{"success", nil, nil, 0, "ran\n", ""},
		{"flag", []string{"--n=4"}, nil, 0, "ran\n", ""},
		{"help", []string{"--help"}, nil, 0, help, ""},
		{"short help", []string{"-h"}, nil, 0, help, ""},
		{"unknown flag", []string{"--m"}, nil, 2, "", "demo: unknown flag: --m" + hint},
		{"argument", []string{"x"}, nil, 2, "", `demo: unexpected argument "x"` + hint},
		{"empty argument", []string{""}, nil, 2, "", `demo: unexpected argument ""` + hint},
		{"run error", nil, io.ErrUnexpectedEOF, 1, "ran\n", "demo: rank 0: unexpected EOF\n"},
		{"error without text", nil, errors.New(""), 1, "ran\n", "demo: rank 0: \n"},
		{"library error", nil, errors.New("rank 0: window: x"), 1, "ran\n", "demo: rank 0: window: x\n"},
		{"late usage error", nil, Usagef("%d are too few", 1), 2, "ran\n", "demo: rank 0: 1 are too few\n"},
		{"wrapped usage error", nil, fmt.Errorf("sizes: %w", Usagef("too few")), 2, "ran\n", "demo: rank 0: sizes: too few\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs strings.Builder
			p := demo(func(comm *world.Comm, out io.Writer) error {
				fmt.Fprintln(out, "ran")
				if tt.err != nil {
					defer leaveLater(t, comm)
				}
				return tt.err
			})
			if code := p.Start(tt.args, &out, &errs); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if diff := cmp.Diff([]string{tt.out, tt.errs}, []string{out.String(), errs.String()}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// leaveLater lets a rank that failed leave at the end of the test, which it can
// only if it has not left.
func leaveLater(t *testing.T, comm *world.Comm) {
	t.Cleanup(func() {
		if err := comm.Leave(); err != nil {
			t.Errorf("the rank that failed has left: %v", err)
		}
	})
}

func TestSuccessLeaves(t *testing.T) {
	var kept *world.Comm
	demo(func(comm *world.Comm, _ io.Writer) error { kept = comm; return nil }).Start(nil, io.Discard, io.Discard)
	if err := kept.Leave(); err == nil {
		t.Error("the rank had not left")
	}
}

// TestLeaveFailureIsAnError: here the program has left by itself.
func TestLeaveFailureIsAnError(t *testing.T) {
	var errs strings.Builder
	code := demo(func(comm *world.Comm, _ io.Writer) error { return comm.Leave() }).Start(nil, io.Discard, &errs)
	if want := "demo: rank 0: Leave: has left already\n"; code != Failure || errs.String() != want {
		t.Errorf("exit code %d, %q; want %d, %q", code, &errs, Failure, want)
	}
}

// TestPanicGoesThrough, and the rank has not left.
func TestPanicGoesThrough(t *testing.T) {
	defer func() {
		if got := recover(); got != "demo" {
			t.Errorf("recovered %v, want the program's panic", got)
		}
	}()
	demo(func(comm *world.Comm, _ io.Writer) error {
		leaveLater(t, comm)
		panic("demo")
	}).Start(nil, io.Discard, io.Discard)
}

func TestJoinFailure(t *testing.T) {
	t.Setenv("GOLAUNCH_SOCKET", "none")
	var errs strings.Builder
	code := demo(func(*world.Comm, io.Writer) error { t.Error("it ran"); return nil }).Start(nil, io.Discard, &errs)
	if code != Failure || !strings.HasPrefix(errs.String(), "demo: world: Join: ") {
		t.Errorf("exit code %d, %q", code, &errs)
	}
}

func TestHelpIsPrintedByOneRank(t *testing.T) {
	for rank, want := range map[string]string{"": help, "0": help, "1": "", "10": ""} {
		t.Setenv(rankVariable, rank)
		var out strings.Builder
		if code := demo(nil).Start([]string{"--help"}, &out, os.Stderr); code != Success || out.String() != want {
			t.Errorf("rank %q: exit code %d, %q; want %q", rank, code, &out, want)
		}
	}
}

func TestNamed(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"open x: no such file", "rank 1: open x: no such file"},
		{"rank 1: window: x", "rank 1: window: x"},
		{"put of 8 bytes: rank 1: window: x", "rank 1: put of 8 bytes: window: x"},
		{"rank 1: verify: rank 1: window: x", "rank 1: verify: window: x"},
		{"rank 2 failed: exit code 1", "rank 1: rank 2 failed: exit code 1"},
		{"fence: rank 12: x", "rank 1: fence: rank 12: x"},
		{"the first computed by rank 1: 2 instead of 3", "rank 1: the first computed by rank 1: 2 instead of 3"},
	} {
		if got := named(1, errors.New(tt.text)).Error(); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
	if named(1, nil) != nil {
		t.Error("no error has got a name")
	}
}
