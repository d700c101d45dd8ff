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

func options(t *testing.T, args ...string) bench.Options {
	t.Helper()
	o, err := spec.Parse(append(args, "--batches=3", "--divide=1000"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestResults(t *testing.T) {
	o := options(t, "--sizes=8,65536", "--buffers=arena,heap", "--json")
	for _, ranks := range []int{2, 3} {
		var out strings.Builder
		worldtest.Run(t, ranks, func(ctx context.Context, comm *world.Comm) {
			var mine io.Writer = failingWriter{}
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

// failingWriter belongs to ranks that print nothing.
type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("this rank prints nothing") }

func checkLines(t *testing.T, text string, ranks int) {
	t.Helper()
	result := func(op string, bytes int, buffers string) bench.Result {
		return bench.Result{Op: op, Bytes: bytes, Ranks: ranks, Transport: "shm", Buffers: buffers}
	}
	want := []bench.Result{
		result("put", 8, "arena"), result("get", 8, "arena"), result("put", 65536, "arena"), result("get", 65536, "arena"),
		result("put", 8, "heap"), result("get", 8, "heap"), result("put", 65536, "heap"), result("get", 65536, "heap"),
		result("fetch_add", 8, "arena"),
		result("lock_put_unlock", 8, "arena"), result("lock_put_unlock", 8, "heap"),
		result("fence", 0, "arena"),
	}
	if diff := cmp.Diff(want, benchtest.Results(t, text)); diff != "" {
		t.Errorf("%d ranks:\n%s", ranks, diff)
	}
}

func TestOneRankIsTooFew(t *testing.T) {
	worldtest.Run(t, 1, func(ctx context.Context, comm *world.Comm) {
		var usage *program.UsageError
		if err := run(ctx, comm, options(t), io.Discard); !errors.As(err, &usage) {
			t.Errorf("error %v, want a usage error", err)
		}
	})
}

// TestVerificationCanFail leaves out the operations: every measurement must
// notice that their effect is missing, at the rank that looks for it.
func TestVerificationCanFail(t *testing.T) {
	const none = 0
	for name, c := range map[string]struct {
		finder int
		do     func(*suite) error
	}{
		"put":             {target, func(s *suite) error { return s.put(bench.Heap, make([]int64, 8), none) }},
		"get":             {origin, func(s *suite) error { return s.get(bench.Heap, make([]int64, 8), none) }},
		"fetch_add":       {origin, func(s *suite) error { return s.fetchAdd(none) }},
		"lock_put_unlock": {target, func(s *suite) error { return s.lockPutUnlock(bench.Heap, make([]int64, 1), none) }},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			worldtest.Run(t, 2, func(ctx context.Context, comm *world.Comm) {
				s, err := newSuite(ctx, comm, o)
				if err != nil {
					t.Error(err)
					return
				}
				s.printer = bench.NewPrinter(io.Discard, false, "")
				err = c.do(s)
				if comm.Rank() == c.finder && (err == nil || !strings.Contains(err.Error(), "want")) {
					t.Errorf("rank %d noticed nothing: %v", c.finder, err)
				}
			})
		})
	}
}

// TestFenceVerificationCanFail has a fence that waits for nobody, beside a rank
// that comes late.
func TestFenceVerificationCanFail(t *testing.T) {
	o := options(t)
	looked := make(chan struct{})
	worldtest.Run(t, 2, func(ctx context.Context, comm *world.Comm) {
		s, err := newSuite(ctx, comm, o)
		if err != nil {
			t.Error(err)
			return
		}
		if comm.Rank() == 1 {
			<-looked
			return
		}
		defer close(looked)
		if err := s.data.LockAll(ctx); err != nil {
			t.Error(err)
		}
		if err := s.verifyFence(func() error { return nil }); err == nil || !strings.Contains(err.Error(), "round 0") {
			t.Errorf("noticed nothing: %v", err)
		}
	})
}
