package figures

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0},
		{[]float64{3}, 3},
		{[]float64{9, 1, 5}, 5},
		{[]float64{4, 1, 2, 100}, 3},
	} {
		if got := Median(c.values); got != c.want {
			t.Errorf("Median(%v) = %v, want %v", c.values, got, c.want)
		}
	}
}

func TestMedianLeavesItsArgumentAlone(t *testing.T) {
	values := []float64{3, 1, 2}
	Median(values)
	if diff := cmp.Diff([]float64{3, 1, 2}, values); diff != "" {
		t.Error(diff)
	}
}

func TestTime(t *testing.T) {
	for us, want := range map[float64]string{
		0.005: "5.00 ns", 0.9994: "999 ns", 0.9996: "1.00 µs", 9.996: "10.0 µs", 99.96: "100 µs",
		999.4: "999 µs", 999.6: "1.00 ms", 47_900: "47.9 ms", 999_600: "1.00 s", 1.6e6: "1.60 s",
	} {
		if got := Time(us); got != want {
			t.Errorf("Time(%v) = %q, want %q", us, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	for bytes, want := range map[int]string{0: "", 8: "8 B", 1000: "1000 B", 1024: "1 KiB", 65536: "64 KiB", 16 << 20: "16 MiB"} {
		if got := Size(bytes); got != want {
			t.Errorf("Size(%d) = %q, want %q", bytes, got, want)
		}
	}
}

func TestPlural(t *testing.T) {
	for want, got := range map[string]string{
		"1 round": Plural(1, "round"), "7 rounds": Plural(7, "round"), "0 cores": Plural(0, "core"), "11 batches": Plural(11, "batch"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
