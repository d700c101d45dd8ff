package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/golaunch/golaunch/apps/internal/bench"
	"github.com/golaunch/golaunch/apps/internal/bench/benchtest"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
	"github.com/golaunch/golaunch/window"
)

func options(t *testing.T, args ...string) bench.Options {
	t.Helper()
	o, err := spec.Parse(append(args, "--batches=3", "--divide=1000"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestResults(t *testing.T) {
	o := options(t, "--sizes=8,65536,1M", "--json")
	for _, ranks := range []int{1, 2, 3} {
		var out strings.Builder
		worldtest.Run(t, ranks, func(ctx context.Context, comm *world.Comm) {
			mine := io.Discard
			if comm.Rank() == 0 {
				mine = &out
			}
			if err := run(ctx, comm, o, mine); err != nil {
				t.Errorf("rank %d of %d: %v", comm.Rank(), ranks, err)
			}
		})
		checkLines(t, out.String(), ranks)
	}
}

func checkLines(t *testing.T, text string, ranks int) {
	t.Helper()
	result := func(op string, bytes int, buffers string) bench.Result {
		return bench.Result{Op: op, Bytes: bytes, Ranks: ranks, Transport: "shm", Buffers: buffers}
	}
	want := []bench.Result{result("barrier", 0, "arena")}
	for _, buffers := range []string{"arena", "heap"} {
		for _, bytes := range []int{8, 65536, 1 << 20} {
			want = append(want, result("allreduce_f64", bytes, buffers))
		}
	}
	if diff := cmp.Diff(want, benchtest.Results(t, text)); diff != "" {
		t.Errorf("%d ranks:\n%s", ranks, diff)
	}
}

// TestAllreduceVerificationCanFail leaves out the operations.
func TestAllreduceVerificationCanFail(t *testing.T) {
	o := options(t)
	worldtest.Run(t, 2, func(ctx context.Context, comm *world.Comm) {
		s := &suite{ctx: ctx, comm: comm, opt: o, cores: 2, printer: bench.NewPrinter(io.Discard, false, "")}
		in, out := make([]float64, 16), make([]float64, 16)
		if err := s.allreduce(bench.Heap, in, out, 0); err == nil || !strings.Contains(err.Error(), "want") {
			t.Errorf("rank %d noticed nothing: %v", comm.Rank(), err)
		}
	})
}

// TestBarrierVerificationCanFail has a barrier that waits for nobody, beside a
// rank that comes late.
func TestBarrierVerificationCanFail(t *testing.T) {
	looked := make(chan struct{})
	worldtest.Run(t, 2, func(ctx context.Context, comm *world.Comm) {
		s := &suite{ctx: ctx, comm: comm}
		counter, err := window.Allocate[int64](ctx, comm, 1)
		if err != nil {
			t.Error(err)
			return
		}
		if comm.Rank() == 1 {
			<-looked
			return
		}
		defer close(looked)
		if err := counter.LockAll(ctx); err != nil {
			t.Error(err)
		}
		if err := s.meet(counter, func() error { return nil }, 2); err == nil || !strings.Contains(err.Error(), "want 2") {
			t.Errorf("noticed nothing: %v", err)
		}
	})
}
