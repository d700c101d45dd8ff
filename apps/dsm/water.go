package main

import "math"

// water moves molecules, of one atom each, in a box that repeats itself, by the forces
// between every two of them (SPLASH's WATER-NSQUARED, with Lennard-Jones' potential
// alone). Each rank has a share of the molecules, and computes for each of them the
// forces with the half of all that follow it; so it has something to add to almost
// everybody's forces.
//
// Velocities, and what forces do to them, are integers, in small units: sums do not depend on
// their order, the result is the same for any number of ranks, and momentum is conserved to
// the last bit.
func water(j *job) error {
	b := box{n: j.size, each: most(j.size, j.ranks())}
	memory, err := newWaterMemory(j, b)
	if err != nil {
		return err
	}
	m := &molecules{job: j, box: b, memory: memory}
	m.first, m.end = b.share(j.me())
	if err := m.start(); err != nil {
		return err
	}
	if err := j.time(m.move); err != nil {
		return err
	}
	if err := m.check(); err != nil {
		return err
	}
	return memory.free()
}

// axes: a molecule has three numbers of each kind.
const axes = 3

// waterMemory is where positions and forces lie.
type waterMemory interface {
	// positions is this rank's view of what each rank has stored last.
	positions() ([][]float64, error)

	// add adds to everybody's sums.
	add(changes []int64) error

	// take waits until all have added, and takes this rank's sums: they are 0 for the
	// next step.
	take(sums []int64) error

	// store stores this rank's positions, when all have done so.
	store(positions []float64) error

	free() error
}

type molecules struct {
	*job
	box
	memory     waterMemory
	first, end int // own molecules
	x          []float64
	v          []int64 // own velocities
}

func (m *molecules) start() error {
	x, v := m.begin()
	m.x, m.v = x[axes*m.first:axes*m.end], v[axes*m.first:axes*m.end]
	return m.memory.store(m.x)
}

func (m *molecules) move() error {
	all, mine := make([]int64, axes*m.n), make([]int64, len(m.v))
	for range m.steps {
		x, err := m.memory.positions()
		if err != nil {
			return err
		}
		clear(all)
		m.forces(x, all, m.first, m.end)
		if err := m.memory.add(all); err != nil {
			return err
		}
		if err := m.memory.take(mine); err != nil {
			return err
		}
		m.advance(m.x, m.v, mine)
		if err := m.memory.store(m.x); err != nil {
			return err
		}
	}
	return nil
}

// check compares everybody's positions, and this rank's velocities.
func (m *molecules) check() error {
	if !m.verify {
		return nil
	}
	got, err := m.memory.positions()
	if err != nil {
		return err
	}
	x, v := serialWater(m.n, m.steps)
	for rank, part := range got {
		first, end := m.share(rank)
		for i, w := range x[axes*first : axes*end] {
			if math.Float64bits(part[i]) != math.Float64bits(w) {
				return m.differ("position of molecule", first+i/axes, part[i], w)
			}
		}
	}
	for i, got := range m.v {
		if w := v[axes*m.first+i]; got != w {
			return m.differ("velocity of molecule", m.first+i/axes, got, w)
		}
	}
	return nil
}

func serialWater(n, steps int) (x []float64, v []int64) {
	b := box{n, n}
	x, v = b.begin()
	changes := make([]int64, axes*n)
	for range steps {
		clear(changes)
		b.forces([][]float64{x}, changes, 0, n)
		b.advance(x, v, changes)
	}
	return x, v
}
