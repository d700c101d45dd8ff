package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/golaunch/golaunch/apps/internal/bench"
	"github.com/golaunch/golaunch/apps/internal/bench/benchtest"
	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
)

func results(t *testing.T, hosts, each int, args ...string) []bench.Result {
	t.Helper()
	o, err := parse(append(args, "--batches=3", "--divide=100", "--json"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	worldtest.RunHosts(t, hosts, each, func(ctx context.Context, comm *world.Comm) {
		mine := io.Discard
		if comm.Rank() == 0 {
			mine = &out
		}
		if err := run(ctx, comm, o, mine); err != nil {
			t.Errorf("rank %d: %v", comm.Rank(), err)
		}
	})
	return benchtest.Results(t, out.String())
}

func TestResults(t *testing.T) {
	for _, c := range []struct {
		hosts, each int
		transport   string
		ops         map[string]string // and their buffers
	}{
		{1, 2, "shm", map[string]string{register: "arena", allocate: "arena", remote: "arena", perCall: "arena", registeredBefore: "arena"}},
		{1, 1, "shm", map[string]string{register: "arena", allocate: "arena", remote: "arena", perCall: "arena", registeredBefore: "arena"}},
		{2, 1, "tcp", map[string]string{register: "arena", allocate: "arena", remote: "arena", firstTouch: "file", cacheHit: "file", perCall: "arena", registeredBefore: "arena"}},
	} {
		var want []bench.Result
		for _, op := range spec.Ops {
			for _, bytes := range []int{8, 1 << 20} {
				if buffers, ok := c.ops[op]; ok {
					want = append(want, bench.Result{Op: op, Bytes: bytes, Ranks: c.hosts * c.each, Transport: c.transport, Buffers: buffers})
				}
			}
		}
		if diff := cmp.Diff(want, results(t, c.hosts, c.each, "--sizes=8,1M")); diff != "" {
			t.Errorf("%d ranks on each of %d hosts:\n%s", c.each, c.hosts, diff)
		}
	}
}

// A registration in the steady state is noticed.
func TestSteadyCanFail(t *testing.T) {
	worldtest.RunHosts(t, 2, 1, func(ctx context.Context, comm *world.Comm) {
		s := &suite{ctx: ctx, comm: comm, registrar: world.Of(comm).Registrar(), transport: farthest(comm)}
		if err := s.preRegister(); err != nil {
			t.Error(err)
		}
		err := s.steady(func() error {
			_, err := arena.Alloc[byte](comm.Arena(), 64<<20)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), "1 registrations") {
			t.Errorf("it was not noticed: %v", err)
		}
	})
}

func TestTable(t *testing.T) {
	var out strings.Builder
	table := &table{out: &out, heading: "2 ranks", sizes: []int{8, 4096}}
	for _, r := range []bench.Result{{Op: register, US: 0.1, Buffers: "arena"}, {Op: register, US: 102, Buffers: "arena"}, {Op: cacheHit, US: 0.05, Buffers: file}} {
		if err := table.Print(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.close(); err != nil {
		t.Fatal(err)
	}
	want := `2 ranks

operation          buffers        8 B      4 KiB
register           arena       100 ns     102 µs
foreign_hit        file       50.0 ns
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestParse(t *testing.T) {
	for _, args := range [][]string{{"--buffers=heap"}, {"--buffers=arena,heap"}, {"--ops=put"}} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}
