package main

import (
	"context"
	"errors"
	"time"

	"github.com/golaunch/golaunch/collectives"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/window"
)

// A solver is one rank's part of the computation in one mode. What packages give lies in
// two windows that take turns, so one fence an iteration is enough: nobody stores into
// the one that others still read.
type solver struct {
	*share
	ctx      context.Context
	comm     *world.Comm
	mode     string
	windows  [2]*window.Window[float64]
	each     int // packages of a rank
	mine     []float64
	copies   []float64 // in mode bulk: everybody's values
	gets     int64     // from other ranks
	duration time.Duration
}

func newSolver(ctx context.Context, comm *world.Comm, g *graph, mode string) (*solver, error) {
	first, end := g.share(comm.Rank(), comm.Size())
	s := &solver{share: newShare(g, first, end), ctx: ctx, comm: comm, mode: mode, each: g.each(comm.Size())}
	s.mine = make([]float64, end-first)
	s.copies = make([]float64, s.each*comm.Size())
	for i, name := range []string{"even iterations", "odd iterations"} {
		options := []window.Option{window.Name(name)}
		if mode == coherent {
			options = append(options, window.Coherent)
		}
		win, err := window.Allocate[float64](ctx, comm, s.each, options...)
		if err != nil {
			return nil, err
		}
		s.windows[i] = win
		if err := win.Fence(ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// solve computes so many iterations.
func (s *solver) solve(iterations int) error {
	if err := collectives.Barrier(s.ctx, s.comm); err != nil {
		return err
	}
	began := time.Now()
	for i := range iterations {
		if err := s.iterate(s.windows[i%2]); err != nil {
			return err
		}
	}
	if err := collectives.Barrier(s.ctx, s.comm); err != nil {
		return err
	}
	s.duration = time.Since(began)
	return nil
}

func (s *solver) iterate(win *window.Window[float64]) error {
	rest := []float64{s.give(s.mine)}
	if err := win.Put(s.comm.Rank(), 0, s.mine); err != nil {
		return err
	}
	if err := win.Fence(s.ctx); err != nil {
		return err
	}
	if err := collectives.Allreduce(s.ctx, s.comm, rest, rest, collectives.Sum); err != nil {
		return err
	}
	switch s.mode {
	case edges:
		return s.take(rest[0], func(importers []int32) (float64, error) { return s.getOthers(win, importers) })
	case bulk:
		if err := s.copy(win); err != nil {
			return err
		}
		return s.take(rest[0], s.addCopies)
	}
	return s.take(rest[0], func(importers []int32) (float64, error) { return s.getAll(win, importers) })
}

// getOthers gets a value from wherever it is, unless this rank has it.
func (s *solver) getOthers(win *window.Window[float64], importers []int32) (sum float64, err error) {
	var value [1]float64
	for _, u := range importers {
		if v := int(u) - s.first; v >= 0 && v < len(s.mine) {
			sum += s.mine[v]
			continue
		}
		s.gets++
		if err := win.Get(int(u)/s.each, int(u)%s.each, value[:]); err != nil {
			return 0, err
		}
		sum += value[0]
	}
	return sum, nil
}

// getAll gets every value.
func (s *solver) getAll(win *window.Window[float64], importers []int32) (sum float64, err error) {
	var value [1]float64
	for _, u := range importers {
		owner := int(u) / s.each
		if owner != s.comm.Rank() {
			s.gets++
		}
		if err := win.Get(owner, int(u)%s.each, value[:]); err != nil {
			return 0, err
		}
		sum += value[0]
	}
	return sum, nil
}

// copy gets everybody's values.
func (s *solver) copy(win *window.Window[float64]) error {
	for rank := range s.comm.Size() {
		if rank != s.comm.Rank() {
			s.gets++
		}
		if err := win.Get(rank, 0, s.copies[rank*s.each:][:s.each]); err != nil {
			return err
		}
	}
	return nil
}

func (s *solver) addCopies(importers []int32) (sum float64, err error) {
	for _, u := range importers {
		sum += s.copies[u]
	}
	return sum, nil
}

// collect is, at rank 0, everybody's ranks.
func (s *solver) collect() ([]float64, error) {
	mine, all := make([]float64, s.each), make([]float64, s.each*s.comm.Size())
	copy(mine, s.ranks)
	err := collectives.Gather(s.ctx, s.comm, 0, mine, all)
	return all[:s.packages()], err
}

func (s *solver) free() error {
	return errors.Join(s.windows[0].Free(s.ctx), s.windows[1].Free(s.ctx))
}
