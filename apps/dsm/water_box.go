package main

import "math"

// A box is a cube with n molecules, which are divided into shares of each, but for the
// last ones; the unit of length is Lennard-Jones' sigma.
type box struct{ n, each int }

const (
	units    = 1 << 36 // of a velocity
	timeStep = 0.001
	density  = 0.7
)

func (b box) edge() float64 { return math.Cbrt(float64(b.n) / density) }

// share is which molecules a rank has, first to end-1.
func (b box) share(rank int) (first, end int) {
	return min(rank*b.each, b.n), min((rank+1)*b.each, b.n)
}

// begin is how it starts: on a lattice, a little disturbed, and without momentum, as
// neighbours have opposite velocities.
func (b box) begin() (x []float64, v []int64) {
	x, v = make([]float64, axes*b.n), make([]int64, axes*b.n)
	rows := int(math.Ceil(math.Cbrt(float64(b.n))))
	apart := b.edge() / float64(rows)
	for i := range b.n {
		for a, place := range [axes]int{i % rows, i / rows % rows, i / rows / rows} {
			random := scramble(uint64(axes*i + a))
			x[axes*i+a] = apart * (float64(place) + 0.25 + float64(random%1024)/8192)
			if i%2 == 1 {
				v[axes*i+a] = int64(random>>20%units) - units/2
				v[axes*(i-1)+a] = -v[axes*i+a]
			}
		}
	}
	return x, v
}

// forces adds what a step's forces do to velocities, of the pairs whose first molecule is
// one of first to end-1: that is with each molecule the half of all that follow it, so
// every pair has one first. x are the positions, a slice for each share.
func (b box) forces(x [][]float64, sum []int64, first, end int) {
	edge := b.edge()
	for i := first; i < end; i++ {
		rest := b.n / 2
		if b.n%2 == 0 && i >= rest {
			rest-- // opposite ones are a pair once
		}
		here := x[i/b.each][axes*(i%b.each):][:axes]
		for j := (i + 1) % b.n; rest > 0; {
			owner := j / b.each
			from, to := b.share(owner)
			to = min(to, j+rest)
			rest -= to - j
			for ; j < to; j++ {
				pair(here, x[owner][axes*(j-from):][:axes], sum[axes*i:][:axes], sum[axes*j:][:axes], edge)
			}
			if j == b.n {
				j = 0
			}
		}
	}
}

// pair adds what two molecules do to each other, if they are within half an edge.
func pair(x, y []float64, v, w []int64, edge float64) {
	dx, dy, dz := nearest(x[0]-y[0], edge), nearest(x[1]-y[1], edge), nearest(x[2]-y[2], edge)
	r2 := float64(dx*dx) + float64(dy*dy) + float64(dz*dz)
	if r2 > float64(edge*edge)/4 {
		return
	}
	s2 := 1 / r2
	s6 := s2 * s2 * s2
	force := float64(24*s6*s2) * (float64(2*s6) - 1)
	for a, d := range [axes]float64{dx, dy, dz} {
		change := int64(force * d * (timeStep * units))
		v[a] += change
		w[a] -= change
	}
}

// nearest is the distance to the nearest of the images.
func nearest(d, edge float64) float64 {
	switch {
	case d > edge/2:
		return d - edge
	case d < -edge/2:
		return d + edge
	}
	return d
}

// advance moves molecules by a step.
func (b box) advance(x []float64, v, changes []int64) {
	edge := b.edge()
	for i, change := range changes {
		v[i] += change
		x[i] += float64(timeStep / units * float64(v[i]))
		if x[i] < 0 {
			x[i] += edge
		} else if x[i] >= edge {
			x[i] -= edge
		}
	}
}
