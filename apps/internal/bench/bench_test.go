package bench

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

func TestClockDividesByTheOperationsOfABatch(t *testing.T) {
	c := NewClock(3, 1000)
	for range 3 {
		c.Start()
		c.started = c.started.Add(-1_000_000) // a millisecond ago
		c.Stop()
	}
	if got := c.Microseconds(); got < 1 || got > 10 {
		t.Errorf("an operation took %v µs, want little more than 1", got)
	}
}

func TestJSONLine(t *testing.T) {
	var out strings.Builder
	r := Result{Op: "put", Bytes: 8, US: 0.00499999, Ranks: 2, Transport: "shm", Buffers: Arena}
	if err := NewPrinter(&out, true, "unused").Print(r); err != nil {
		t.Fatal(err)
	}
	want := `{"op":"put","bytes":8,"us":0.005,"ranks":2,"transport":"shm","buffers":"arena"}` + "\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestTable(t *testing.T) {
	var out strings.Builder
	p := NewPrinter(&out, false, Heading("shm", 2, 1, 11))
	for _, r := range []Result{
		{Op: "put", Bytes: 8, US: 0.00512, Buffers: Heap},
		{Op: "put", Bytes: 1 << 20, US: 52.4, Buffers: Arena},
		{Op: "fence", US: 0.25, Buffers: Arena},
	} {
		if err := p.Print(r); err != nil {
			t.Fatal(err)
		}
	}
	want := `2 ranks over shm, 1 core, median of 11 batches

operation              size         time         rate   buffers
put                     8 B      5.12 ns                heap
put                   1 MiB      52.4 µs   20.01 GB/s   arena
fence                             250 ns                arena
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

var spec = Spec{
	Name: "demo", Ops: []string{"put", "get"}, Sizes: []int{8, 1024},
	Buffers: []string{Arena}, Unit: 8, Help: "demo measures.\n",
}

func TestParseDefaults(t *testing.T) {
	got, err := spec.Parse(nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := Options{Ops: []string{"put", "get"}, Sizes: []int{8, 1024}, Buffers: []string{Arena}, Batches: 11}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParse(t *testing.T) {
	got, err := spec.Parse([]string{"--ops=get", "--sizes", "64K,16M", "--buffers=heap,arena", "--batches=3", "--divide=7", "--json"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := Options{Ops: []string{"get"}, Sizes: []int{65536, 16 << 20}, Buffers: []string{Heap, Arena}, Batches: 3, Divide: 7, JSON: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ arg, want string }{
		{"--ops=put,swap", `"swap": it measures put, get`},
		{"--ops=", "nothing to measure"},
		{"--sizes=0", `--sizes "0"`},
		{"--sizes=-8", `--sizes "-8"`},
		{"--sizes=9999999999999M", `--sizes "9999999999999M"`},
		{"--sizes=12", "multiple of 8"},
		{"--sizes=8Q", `--sizes "8Q"`},
		{"--buffers=disk", "want arena, heap or both"},
		{"--batches=0", "--batches 0"},
		{"--divide=-1", "--divide -1"},
		{"stray", `unexpected argument "stray"`},
		{"--unknown", "unknown flag"},
	} {
		if _, err := spec.Parse([]string{c.arg}, io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.arg, err, c.want)
		}
	}
}

func TestHelp(t *testing.T) {
	var help strings.Builder
	if _, err := spec.Parse([]string{"--help"}, &help); !errors.Is(err, pflag.ErrHelp) {
		t.Fatalf("error %v, want pflag.ErrHelp", err)
	}
	if got := help.String(); !strings.HasPrefix(got, "demo measures.\n") || !strings.Contains(got, "--batches") {
		t.Errorf("help is %q", got)
	}
}

func TestIterations(t *testing.T) {
	for _, c := range []struct{ divide, n, ranks, cores, want int }{
		{0, 5000, 2, 2, 5000},
		{0, 5000, 16, 2, 10},
		{0, 30, 16, 2, 1},
		{100, 5000, 2, 2, 50},
		{100, 5000, 16, 2, 50},
	} {
		if got := (Options{Divide: c.divide}).Iterations(c.n, c.ranks, c.cores); got != c.want {
			t.Errorf("%d operations, divide %d, %d ranks on %d cores: %d, want %d", c.n, c.divide, c.ranks, c.cores, got, c.want)
		}
	}
}

func TestHoldsFindsEveryWrongByte(t *testing.T) {
	mem := make([]int64, 50)
	for i := range mem {
		for shift := range 8 {
			Fill(mem, 5)
			if err := Holds(mem, 5); err != nil {
				t.Fatal(err)
			}
			mem[i] ^= 1 << (8 * shift)
			if Holds(mem, 5) == nil {
				t.Fatalf("a wrong byte %d of element %d was not noticed", shift, i)
			}
		}
	}
	if Fill(mem, 6); Holds(mem, 5) == nil {
		t.Error("the pattern of another seed was not noticed")
	}
}

func TestHoldsSumFindsEveryWrongElement(t *testing.T) {
	const ranks, offset = 3, 2.0
	sum := make([]float64, 100)
	for rank := range ranks {
		in := make([]float64, len(sum))
		FillFloats(in, offset+float64(rank))
		for i := range sum {
			sum[i] += in[i]
		}
	}
	if err := HoldsSum(sum, ranks, offset); err != nil {
		t.Fatal(err)
	}
	for i, right := range sum {
		for _, wrong := range []float64{right + 1, math.NaN(), 0.5} {
			sum[i] = wrong
			if HoldsSum(sum, ranks, offset) == nil {
				t.Fatalf("a wrong element %d was not noticed", i)
			}
		}
		sum[i] = right
	}
}
