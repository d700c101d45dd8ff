package chart

import (
	"math"
	"testing"
)

func TestAxisCoversItsValues(t *testing.T) {
	for _, c := range []struct {
		values []float64
		lo, hi int
	}{
		{[]float64{0.005, 1.6e6}, -3, 7},
		{[]float64{1, 10}, 0, 1},
		{[]float64{10}, 1, 2},
		{nil, 0, 1},
	} {
		a := newAxis(c.values, 100, 200)
		if a.lo != c.lo || a.hi != c.hi {
			t.Errorf("axis of %v is 10^%d to 10^%d, want 10^%d to 10^%d", c.values, a.lo, a.hi, c.lo, c.hi)
		}
		for _, v := range c.values {
			if x := a.at(v); x < 100-1e-9 || x > 200+1e-9 {
				t.Errorf("%v stands at %v, outside of 100 to 200", v, x)
			}
		}
	}
}

func TestAxisIsLogarithmic(t *testing.T) {
	a := newAxis([]float64{1, 1e4}, 0, 400)
	for decade := range 5 {
		if x := a.at(math.Pow(10, float64(decade))); math.Abs(x-100*float64(decade)) > 1e-9 {
			t.Errorf("10^%d stands at %v", decade, x)
		}
	}
}

func TestDecadeNames(t *testing.T) {
	for decade, want := range map[int]string{-4: "100 ps", -3: "1 ns", -2: "10 ns", 0: "1 µs", 2: "100 µs", 3: "1 ms", 5: "100 ms", 6: "1 s", 7: "10 s"} {
		if got := decadeName(decade); got != want {
			t.Errorf("10^%d µs is %q, want %q", decade, got, want)
		}
	}
}
