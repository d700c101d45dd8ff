package main

import (
	"errors"

	"github.com/golaunch/golaunch/window"
)

// Positions and sums of water in the three modes. Between the fences of take and store a rank
// has its own sums for itself, and nobody reads positions.

func newWaterMemory(j *job, b box) (waterMemory, error) {
	places, err := newArray[float64](j, "positions", axes*b.each)
	if err != nil {
		return nil, err
	}
	sums, err := newArray[int64](j, "sums", axes*b.each)
	if err != nil {
		return nil, err
	}
	w := waterShares{job: j, box: b, places: places, sums: sums, views: make([][]float64, j.ranks())}
	w.zeros, w.buffer = make([]int64, axes*b.each), make([]int64, axes*b.each)
	for rank := range w.views {
		if j.mode == loads {
			w.views[rank] = places.part(rank)
		} else {
			w.views[rank] = make([]float64, axes*b.each)
		}
	}
	switch j.mode {
	case rma:
		return &waterRMA{w}, nil
	case calls:
		return &waterCalls{w}, nil
	}
	return &waterLoads{w}, nil
}

type waterShares struct {
	*job
	box
	places        *array[float64]
	sums          *array[int64]
	views         [][]float64
	zeros, buffer []int64
}

// fetch gets everybody's positions.
func (w *waterShares) fetch() ([][]float64, error) {
	for rank, view := range w.views {
		if err := w.places.get(rank, 0, view); err != nil {
			return nil, err
		}
	}
	return w.views, nil
}

// shares calls do with everybody's part of something, the own one first.
func (w *waterShares) shares(all []int64, do func(rank int, part []int64) error) error {
	for turn := range w.ranks() {
		rank := (w.me() + turn) % w.ranks()
		first, end := w.share(rank)
		if err := do(rank, all[axes*first:axes*end]); err != nil {
			return err
		}
	}
	return nil
}

// locked calls do with everybody's part, whose lock this rank then has.
func (w *waterShares) locked(all []int64, do func(rank int, part []int64) error) error {
	return w.shares(all, func(rank int, part []int64) error {
		if err := w.sums.win.Lock(w.ctx, rank, window.Exclusive); err != nil {
			return err
		}
		return errors.Join(do(rank, part), w.sums.win.Unlock(rank))
	})
}

func (w *waterShares) take(sums []int64) error {
	if err := w.sums.fence(); err != nil {
		return err
	}
	mine := w.sums.part(w.me())
	copy(sums, mine)
	clear(mine)
	return nil
}

func (w *waterShares) store(positions []float64) error {
	copy(w.places.part(w.me()), positions)
	return w.places.fence()
}

func (w *waterShares) free() error { return errors.Join(w.places.free(), w.sums.free()) }

// waterRMA gets the positions and accumulates the sums.
type waterRMA struct{ waterShares }

func (w *waterRMA) positions() ([][]float64, error) { return w.fetch() }

func (w *waterRMA) add(changes []int64) error {
	return w.shares(changes, func(rank int, part []int64) error { return w.sums.add(rank, 0, part) })
}

// waterCalls gets, adds and puts sums with their lock held.
type waterCalls struct{ waterShares }

func (w *waterCalls) positions() ([][]float64, error) { return w.fetch() }

func (w *waterCalls) add(changes []int64) error {
	return w.locked(changes, func(rank int, part []int64) error {
		sums := w.buffer[:len(part)]
		if err := w.sums.get(rank, 0, sums); err != nil {
			return err
		}
		addTo(sums, part)
		return w.sums.put(rank, 0, sums)
	})
}

func (w *waterCalls) take(sums []int64) error {
	if err := w.sums.fence(); err != nil {
		return err
	}
	if err := w.sums.get(w.me(), 0, sums); err != nil {
		return err
	}
	return w.sums.put(w.me(), 0, w.zeros)
}

func (w *waterCalls) store(positions []float64) error {
	if err := w.places.put(w.me(), 0, positions); err != nil {
		return err
	}
	return w.places.fence()
}

// waterLoads adds where the sums are, with their lock held.
type waterLoads struct{ waterShares }

func (w *waterLoads) positions() ([][]float64, error) { return w.views, nil }

func (w *waterLoads) add(changes []int64) error {
	return w.locked(changes, func(rank int, part []int64) error {
		addTo(w.sums.part(rank), part)
		return nil
	})
}
