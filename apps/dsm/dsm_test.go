package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/golaunch/golaunch/apps/internal/program"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
)

func TestMain(m *testing.M) { os.Exit(worldtest.Main(m).Run()) }

// small sizes at which shares differ between ranks.
var small = []struct {
	kernel      string
	size, steps int
}{
	{"sor", 34, 3}, {"sor", 4, 1}, {"lu", 5 * side, 0}, {"is", 5000, 3}, {"is", 3, 4}, {"water", 45, 3}, {"water", 8, 2}, {"tsp", 8, 0},
	{"feed", 100, 1}, {"mix", 300, 1},
}

// Every kernel computes what the serial computation does, in every mode, on one host and on
// several.
func TestEqualsSerial(t *testing.T) {
	for _, hosts := range []struct{ n, each int }{{1, 1}, {1, 2}, {1, 3}, {1, 4}, {2, 1}, {2, 2}, {4, 1}} {
		t.Run(fmt.Sprintf("%d hosts of %d ranks", hosts.n, hosts.each), func(t *testing.T) {
			worldtest.AnywhereHosts(t, hosts.n, hosts.each, func(ctx context.Context, comm *world.Comm) {
				for _, c := range small {
					opt := options{kernels: []string{c.kernel}, modes: allModes, size: c.size, steps: c.steps, repeat: 1, verify: true}
					if err := run(ctx, comm, opt, io.Discard); err != nil {
						t.Errorf("rank %d, %s of size %d: %v", comm.Rank(), c.kernel, c.size, err)
						return
					}
				}
			})
		})
	}
}

// alone runs body as a world of one rank, with a job of a kernel.
func alone(t *testing.T, size, steps int, body func(j *job) error) {
	t.Helper()
	worldtest.Run(t, 1, func(ctx context.Context, comm *world.Comm) {
		j := &job{ctx: ctx, comm: comm, mode: rma, size: size, steps: steps, verify: true}
		if err := body(j); err != nil {
			t.Error(err)
		}
	})
}

// noticed is an error unless err is that of a check.
func noticed(err error) error {
	if err == nil || !strings.Contains(err.Error(), "not the serial") {
		return fmt.Errorf("the check says %v", err)
	}
	return nil
}

func TestOutput(t *testing.T) {
	opt, err := parseOptions([]string{"--mode=rma,calls", "--steps=2", "--repeat=3", "--size=16", "sor", "--json"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	out := output(t, 2, opt)
	if strings.Count(out, "\n") != 2 {
		t.Fatalf("lines: %s", out)
	}
	for line := range strings.Lines(out) {
		var r result
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if r.Kernel != "sor" || r.Size != 16 || r.Steps != 2 || r.Ranks != 2 || r.Transport != "shm" || r.Seconds <= 0 || r.Operations == 0 || (r.Mode == rma) != (r.Bytes > 0) {
			t.Errorf("%s", line)
		}
	}
	opt.json = false
	out = output(t, 2, opt)
	for _, want := range []string{"2 ranks over shm\n\nkernel", "sor            16      2  rma", "sor            16      2  calls"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}

// output is what rank 0 writes.
func output(t *testing.T, ranks int, opt options) string {
	t.Helper()
	var out strings.Builder
	worldtest.Run(t, ranks, func(ctx context.Context, comm *world.Comm) {
		var mine io.Writer = &out
		if comm.Rank() != 0 {
			mine = nil
		}
		if err := run(ctx, comm, opt, mine); err != nil {
			t.Error(err)
		}
	})
	return out.String()
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct{ args, err string }{
		{"", ""},
		{"sor lu --mode loads", ""},
		{"chess", `unknown kernel "chess": there are sor, lu, is, water, tsp, feed, mix`},
		{"--mode magic", `--mode "magic": want rma, calls, loads`},
		{"--size 8", "means something else to each kernel"},
		{"sor --size -1", "--size -1"},
		{"sor --steps -1", "--steps -1"},
		{"--repeat 0", "--repeat 0"},
		{"--mode=", "none is given"},
	} {
		opt, err := parseOptions(strings.Fields(tt.args), io.Discard)
		switch {
		case tt.err == "" && (err != nil || len(opt.kernels) == 0 || len(opt.modes) == 0):
			t.Errorf("%q: %+v, %v", tt.args, opt, err)
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("%q: %v, want %q", tt.args, err, tt.err)
		}
	}
}

// A size that a kernel does not take is a fault of the command line.
func TestSizes(t *testing.T) {
	for kernel, size := range map[string]int{"sor": 7, "lu": 33, "is": 1, "water": 7, "tsp": 19, "feed": 1001, "mix": 1001} {
		alone(t, 0, 0, func(j *job) error {
			opt := options{kernels: []string{kernel}, modes: []string{rma}, size: size, repeat: 1}
			var usage *program.UsageError
			if err := run(j.ctx, j.comm, opt, io.Discard); !errors.As(err, &usage) || !strings.Contains(err.Error(), kernel+": --size") {
				t.Errorf("%s of size %d: %v", kernel, size, err)
			}
			return nil
		})
	}
}
