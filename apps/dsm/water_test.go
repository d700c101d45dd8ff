package main

import (
	"math"
	"slices"
	"testing"
)

// Shares together do what one does.
func TestWaterPairsAreCountedOnce(t *testing.T) {
	for _, n := range []int{8, 9, 20, 33} {
		x, _ := box{n: n, each: n}.begin()
		want := make([]int64, axes*n)
		for i := range n {
			for j := range i {
				pair(x[axes*i:][:axes], x[axes*j:][:axes], want[axes*i:][:axes], want[axes*j:][:axes], box{n: n}.edge())
			}
		}
		for each := 1; each <= n; each++ {
			b, got := box{n, each}, make([]int64, axes*n)
			var shares [][]float64
			for rank := range most(n, each) {
				first, end := b.share(rank)
				shares = append(shares, x[axes*first:axes*end])
			}
			for rank := range shares {
				first, end := b.share(rank)
				b.forces(shares, got, first, end)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%d molecules in shares of %d: %v, want %v", n, each, got, want)
			}
		}
	}
}

// Momentum is conserved to the last bit, and energy is about what it was.
func TestWaterConserves(t *testing.T) {
	const n = 100
	energy := func(steps int) float64 {
		x, v := serialWater(n, steps)
		var momentum [axes]int64
		for i, p := range v {
			momentum[i%axes] += p
		}
		if momentum != [axes]int64{} {
			t.Errorf("after %d steps the momentum is %v", steps, momentum)
		}
		return energyOf(x, v)
	}
	before, after := energy(0), energy(200)
	if math.Abs(after-before) > 0.05*math.Abs(before) {
		t.Errorf("the energy was %v and is %v", before, after)
	}
}

func energyOf(x []float64, v []int64) (sum float64) {
	n := len(x) / axes
	edge := box{n: n}.edge()
	for i := range n {
		for a := range axes {
			speed := float64(v[axes*i+a]) / units
			sum += speed * speed / 2
		}
		for j := range i {
			r2 := 0.0
			for a := range axes {
				d := nearest(x[axes*i+a]-x[axes*j+a], edge)
				r2 += d * d
			}
			if r2 <= edge*edge/4 {
				s6 := 1 / (r2 * r2 * r2)
				sum += 4 * (s6*s6 - s6)
			}
		}
	}
	return sum
}

func TestWaterCheckCanFail(t *testing.T) {
	alone(t, 10, 1, func(j *job) error {
		b := box{10, 10}
		memory, err := newWaterMemory(j, b)
		if err != nil {
			return err
		}
		m := &molecules{job: j, box: b, memory: memory, end: 10}
		m.x, m.v = serialWater(10, 1)
		if err := memory.store(m.x); err != nil {
			return err
		}
		if err := m.check(); err != nil {
			return err
		}
		m.v[29]++
		if err := noticed(m.check()); err != nil {
			return err
		}
		m.v[29]--
		m.x[17] += 1e-15
		if err := memory.store(m.x); err != nil {
			return err
		}
		return noticed(m.check())
	})
}
