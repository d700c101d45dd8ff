package main

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/golaunch/golaunch/apps/internal/bench"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
)

func runOnHosts(t *testing.T, hosts, each int, o bench.Options) string {
	t.Helper()
	var out strings.Builder
	worldtest.RunHosts(t, hosts, each, func(ctx context.Context, comm *world.Comm) {
		var mine io.Writer = failingWriter{}
		if comm.Rank() == 0 {
			mine = &out
		}
		if err := run(ctx, comm, o, mine); err != nil {
			t.Errorf("rank %d: %v", comm.Rank(), err)
		}
	})
	return out.String()
}

// The op passive has a line for each operation, with and without gaps, idle and busy,
// and for the computation.
func TestPassive(t *testing.T) {
	for path, hosts := range map[string]int{"shm": 1, "tcp": 2} {
		out := runOnHosts(t, hosts, 2/hosts, options(t, "--ops=passive", "--json"))
		type key struct{ op, target, gaps string }
		seen := map[key]bool{}
		for line := range strings.Lines(out) {
			var r struct {
				passiveResult
				Share float64 `json:"share"`
			}
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			seen[key{r.Op, r.Target, r.Gaps}] = true
			if r.Transport != path || r.Ranks != 2 || r.Op == "passive_computation" && r.Share <= 0 {
				t.Errorf("%s", line)
			}
			if r.Gaps == "none" && r.Target != "" && (r.US <= 0 || r.P99 < r.US || r.Samples == 0) {
				t.Errorf("%s", line)
			}
		}
		if len(seen) != 3*2*2+2 {
			t.Errorf("%s: lines for %v", path, seen)
		}
	}
}

func TestPassiveTable(t *testing.T) {
	out := runOnHosts(t, 2, 1, options(t, "--ops=passive"))
	for _, want := range []string{"takes no part, over tcp", "put         none", "fetch_add   20-50 ms", "the computation keeps"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}

// Results name the path that was measured.
func TestTransportIsNamed(t *testing.T) {
	o := options(t, "--ops=put,fence", "--sizes=8")
	if out := runOnHosts(t, 2, 1, o); !strings.HasPrefix(out, "2 ranks over tcp, ") {
		t.Error(out)
	}
	o.JSON = true
	if out := runOnHosts(t, 2, 1, o); strings.Count(out, `"transport":"tcp"`) != 2 {
		t.Error(out)
	}
}

func TestPercentile(t *testing.T) {
	values := make([]float64, 200)
	for i := range values {
		values[(i*7)%200] = float64(i + 1)
	}
	for percent, want := range map[int]float64{1: 2, 50: 100, 99: 198, 100: 200} {
		if got := percentile(values, percent); got != want {
			t.Errorf("%d %%: %v, want %v", percent, got, want)
		}
	}
	if got := percentile([]float64{3}, 99); got != 3 {
		t.Errorf("of one value: %v", got)
	}
}
