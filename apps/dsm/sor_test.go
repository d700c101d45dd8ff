package main

import (
	"math"
	"testing"
)

// After many steps every point is the mean of its neighbours.
func TestSorConverges(t *testing.T) {
	const n = 16
	colours := serialSor(n, 200)
	at := func(i, j int) float64 { return colours[(i+j)%2][i*n/2+j/2] }
	for i := 1; i < n-1; i++ {
		for j := 1; j < n-1; j++ {
			mean := (at(i-1, j) + at(i+1, j) + at(i, j-1) + at(i, j+1)) / 4
			if math.Abs(mean-at(i, j)) > 1e-12 {
				t.Fatalf("point %d, %d is %v, the mean of its neighbours %v", i, j, at(i, j), mean)
			}
		}
	}
}

// Every row is where its owner keeps it.
func TestSorRowsAreFound(t *testing.T) {
	for n := 4; n < 40; n += 2 {
		for ranks := 1; ranks <= n; ranks++ {
			for rank := range ranks {
				first, end := share(n, rank, ranks)
				for i := first; i < end; i++ {
					if r, line := sorPlace(n, ranks, i); r != rank || line != i-first {
						t.Fatalf("%d rows on %d ranks: row %d is at %d, line %d, not at %d, %d", n, ranks, i, r, line, rank, i-first)
					}
				}
			}
		}
	}
}

type wrongSor struct{ sorMemory }

func (w wrongSor) read(colour, i int, dst []float64) error {
	err := w.sorMemory.read(colour, i, dst)
	if colour == 1 && i == 3 {
		dst[2] += 1e-15
	}
	return err
}

func TestSorCheckCanFail(t *testing.T) {
	alone(t, 8, 0, func(j *job) error {
		m, err := newSorMemory(j)
		if err != nil {
			return err
		}
		p := &plate{job: j, memory: m, end: j.size}
		p.start()
		if err := p.check(); err != nil {
			return err
		}
		p.memory = wrongSor{m}
		return noticed(p.check())
	})
}
