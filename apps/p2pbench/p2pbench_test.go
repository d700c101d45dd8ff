package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/golaunch/golaunch/apps/internal/bench"
	"github.com/golaunch/golaunch/apps/internal/bench/benchtest"
	"github.com/golaunch/golaunch/apps/internal/program"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
)

func parsed(t *testing.T, args ...string) options {
	t.Helper()
	o, err := parse(append(args, "--batches=3", "--divide=1000"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// results runs the benchmark by run and returns its lines without times.
func results(t *testing.T, o options, ranks int, start func(testing.TB, func(context.Context, *world.Comm))) []bench.Result {
	t.Helper()
	var out strings.Builder
	start(t, func(ctx context.Context, comm *world.Comm) {
		mine := io.Discard
		if comm.Rank() == 0 {
			mine = &out
		}
		if err := run(ctx, comm, o, mine); err != nil {
			t.Errorf("rank %d of %d: %v", comm.Rank(), ranks, err)
		}
	})
	return benchtest.Results(t, out.String())
}

func TestResults(t *testing.T) {
	o := parsed(t, "--sizes=8,64K", "--buffers=arena,heap", "--json", "--bare")
	for path, start := range map[string]func(testing.TB, func(context.Context, *world.Comm)){
		"shm": func(t testing.TB, body func(context.Context, *world.Comm)) { worldtest.Run(t, 3, body) },
		"tcp": func(t testing.TB, body func(context.Context, *world.Comm)) { worldtest.RunHosts(t, 3, 1, body) },
	} {
		var want []bench.Result
		add := func(op, path, buffers string) {
			for _, bytes := range []int{8, 64 << 10} {
				want = append(want, bench.Result{Op: op, Bytes: bytes, Ranks: 3, Transport: path, Buffers: buffers})
			}
		}
		add("pingpong", path, bench.Arena)
		add("pingpong", path, bench.Heap)
		add("pingpong_bare", "tcp", bench.Heap)
		if diff := cmp.Diff(want, results(t, o, 3, start)); diff != "" {
			t.Errorf("%s:\n%s", path, diff)
		}
	}
}

func TestOneRankIsTooFew(t *testing.T) {
	worldtest.Run(t, 1, func(ctx context.Context, comm *world.Comm) {
		var usage *program.UsageError
		if err := run(ctx, comm, parsed(t), io.Discard); !errors.As(err, &usage) {
			t.Errorf("error %v, want a usage error", err)
		}
	})
}

// TestVerificationCanFail has trips on which nothing travels: rank 1 must notice.
func TestVerificationCanFail(t *testing.T) {
	o := parsed(t)
	worldtest.Run(t, 2, func(ctx context.Context, comm *world.Comm) {
		s := &suite{ctx: ctx, comm: comm, opt: o, cores: 2, printer: bench.NewPrinter(io.Discard, false, "")}
		err := s.measure("nothing", "shm", bench.Heap, make([]int64, 8), 1, func(int) error { return nil })
		if comm.Rank() == 1 && (err == nil || !strings.Contains(err.Error(), "want")) {
			t.Errorf("rank 1 noticed nothing: %v", err)
		}
	})
}

func TestBareCallsSayWhatIsWrong(t *testing.T) {
	buf := make([]byte, 8)
	if err := sendAll(-1, buf); err == nil || !strings.Contains(err.Error(), "send: bad file") {
		t.Errorf("send: %v", err)
	}
	if err := receiveAll(-1, buf); err == nil || !strings.Contains(err.Error(), "receive: bad file") {
		t.Errorf("receive: %v", err)
	}
}
