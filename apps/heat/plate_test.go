package main

import (
	"math"
	"testing"
)

// heldAt is the temperature at which a cell is held, if it is.
func heldAt(p plate, row, col int) (float64, bool) {
	if row == 0 || row == p.n-1 || col == 0 || col == p.n-1 {
		return ambient, true
	}
	return p.pipe(row, col)
}

func TestHeldSpans(t *testing.T) {
	for _, n := range []int{3, 4, 33, 140} {
		p := plate{n}
		for row := range n {
			at := map[int]float64{}
			for _, s := range p.held(row) {
				for col := s.from; col < s.to; col++ {
					at[col] = s.temperature
				}
			}
			first := make([]float64, n)
			start(first, p.held(row))
			for col := range n {
				want, held := heldAt(p, row, col)
				if got, is := at[col]; is != held || (held && got != want) {
					t.Fatalf("n %d, row %d, column %d: held %t at %v; want %t at %v", n, row, col, is, got, held, want)
				}
				if !held {
					want = ambient
				}
				if first[col] != want {
					t.Fatalf("n %d, row %d, column %d: starts with %v; want %v", n, row, col, first[col], want)
				}
			}
		}
	}
}

// TestPipes: the cold pipe is the hot one turned by half a circle, they do not
// touch, and both are there.
func TestPipes(t *testing.T) {
	const n = 255
	p := plate{n}
	hot := 0
	for row := range n {
		for col := range n {
			here, held := p.pipe(row, col)
			there, opposite := p.pipe(n-1-row, n-1-col)
			if held != opposite || (held && here+there != hottest+coldest) {
				t.Fatalf("row %d, column %d: %v, %t; opposite %v, %t", row, col, here, held, there, opposite)
			}
			if held && here == hottest {
				hot++
			}
			right, touching := p.pipe(row, col+1)
			if held && touching && right != here {
				t.Fatalf("row %d, column %d: the pipes touch", row, col)
			}
		}
	}
	if part := float64(hot) / (n * n); part < 0.05 || part > 0.1 {
		t.Errorf("the hot pipe takes %.3f of the plate", part)
	}
}

func TestPhysicalTime(t *testing.T) {
	// After a second, heat has spread about sqrt(4 * 1.17e-4 m²/s * 1 s) = 2.2 cm.
	if got := (plate{512}).seconds(4000); math.Abs(got-1.043) > 0.001 {
		t.Errorf("4000 steps take %.4f s of the plate's time", got)
	}
}

// TestRelaxDecaysAsItMust: a product of two sines is an eigenvector of the step,
// and its eigenvalue is known exactly.
func TestRelaxDecaysAsItMust(t *testing.T) {
	const n, steps, kx, ky = 21, 40, 2, 3
	now, next := make([]float64, n*n), make([]float64, n*n)
	mode := func(row, col int) float64 {
		return math.Sin(math.Pi*ky*float64(row)/(n-1)) * math.Sin(math.Pi*kx*float64(col)/(n-1))
	}
	for i := range now {
		now[i] = mode(i/n, i%n)
	}
	copy(next, now)
	for range steps {
		for at := n; at < n*n-n; at += n {
			relax(next[at:at+n], now[at-n:at], now[at:at+n], now[at+n:at+2*n], []span{{0, 1, 0}, {n - 1, n, 0}})
		}
		now, next = next, now
	}
	square := func(k float64) float64 { return math.Pow(math.Sin(math.Pi*k/(2*(n-1))), 2) }
	factor := math.Pow(1-4*rate*(square(kx)+square(ky)), steps)
	for i, got := range now {
		if want := factor * mode(i/n, i%n); math.Abs(got-want) > 1e-12 {
			t.Fatalf("row %d, column %d: %v; want %v", i/n, i%n, got, want)
		}
	}
}

// TestNothingGetsHotterThanThePipes is the maximum principle.
func TestNothingGetsHotterThanThePipes(t *testing.T) {
	p := plate{65}
	for i, temperature := range serial(p, 300) {
		if !(temperature >= coldest && temperature <= hottest) {
			t.Fatalf("cell %d: %v", i, temperature)
		}
		if at, held := heldAt(p, i/p.n, i%p.n); held && temperature != at {
			t.Fatalf("cell %d is held at %v but has %v", i, at, temperature)
		}
	}
}

func TestLargestChange(t *testing.T) {
	if got := largestChange([]float64{1, 5, -2}, []float64{1, 4, 2}); got != 4 {
		t.Errorf("%v; want 4", got)
	}
}

func BenchmarkRelax(b *testing.B) {
	p := plate{1024}
	rows := make([]float64, 4*p.n)
	spans := p.held(p.n / 2)
	b.SetBytes(int64(8 * p.n))
	for b.Loop() {
		relax(rows[:p.n], rows[p.n:2*p.n], rows[2*p.n:3*p.n], rows[3*p.n:], spans)
	}
}
