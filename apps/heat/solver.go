package main

import (
	"context"

	"github.com/golaunch/golaunch/collectives"
	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/window"
)

// solver is one rank's part of the computation: its block, and the windows in
// which the two states of the plate lie. All its methods are collective.
//
// One fence a step is enough. A rank reads the halo of the state that was
// finished before the last fence; what its neighbours put meanwhile goes into
// the halo of the other state, which it reads only after the next fence. And a
// neighbour cannot be two steps ahead, because that fence waits for this rank.
type solver struct {
	*block
	comm   *world.Comm
	states [2]*window.Window[float64]
	step   int // states[step%2] is the present
}

// newSolver makes the windows and fills them with what the plate starts with.
func newSolver(ctx context.Context, comm *world.Comm, p plate) (*solver, error) {
	s := &solver{block: newBlock(p, comm.Rank(), comm.Size()), comm: comm}
	for i, name := range []string{"even steps", "odd steps"} {
		win, err := window.Allocate[float64](ctx, comm, s.cells(), window.Name(name))
		if err != nil {
			return nil, err
		}
		s.states[i] = win
	}
	present := s.states[0]
	if err := present.Fence(ctx); err != nil {
		return nil, err
	}
	s.start(present.Local())
	if err := s.putBorders(present); err != nil {
		return nil, err
	}
	if err := present.Fence(ctx); err != nil {
		return nil, err
	}
	return s, s.states[1].Fence(ctx)
}

// now is this rank's part of the present state.
func (s *solver) now() []float64 { return s.states[s.step%2].Local() }

// advance computes one step. The rows that the neighbours need come first, so
// that they travel while the others are computed.
func (s *solver) advance(ctx context.Context) error {
	win := s.states[(s.step+1)%2]
	now, next, last := s.now(), win.Local(), s.rows()-1
	s.relax(next, now, 0, 1)
	s.relax(next, now, max(1, last), last+1)
	if err := s.putBorders(win); err != nil {
		return err
	}
	s.relax(next, now, 1, last)
	s.step++
	return win.Fence(ctx)
}

// putBorders puts the outermost own rows into the halos of the neighbours.
func (s *solver) putBorders(win *window.Window[float64]) error {
	state, rank := win.Local(), s.comm.Rank()
	if rank > 0 {
		first, end := rows(s.n, rank-1, s.comm.Size())
		if err := win.Put(rank-1, (end-first+1)*s.n, s.line(state, 0)); err != nil {
			return err
		}
	}
	if rank < s.comm.Size()-1 {
		return win.Put(rank+1, 0, s.line(state, s.rows()-1))
	}
	return nil
}

// residual is the greatest change of any cell of the plate in the last step.
func (s *solver) residual(ctx context.Context) (float64, error) {
	before := s.states[(s.step+1)%2].Local()
	mine, all := []float64{largestChange(s.own(s.now()), s.own(before))}, []float64{0}
	err := collectives.Allreduce(ctx, s.comm, mine, all, collectives.Max)
	return all[0], err
}

// collect returns, at rank 0, the whole plate, which rank 0 gets from the others.
// It is arena memory, to be given back with arena.Free: an arena refuses what the
// host has no room for, where the Go heap would end in the OOM killer's hands.
func (s *solver) collect(ctx context.Context) ([]float64, error) {
	win := s.states[s.step%2]
	var whole []float64
	if s.comm.Rank() == 0 {
		var err error
		if whole, err = arena.Alloc[float64](s.comm.Arena(), s.n*s.n); err != nil {
			return nil, err
		}
		for rank := range s.comm.Size() {
			first, end := rows(s.n, rank, s.comm.Size())
			if err := win.Get(rank, s.n, whole[first*s.n:end*s.n]); err != nil {
				return nil, err
			}
		}
	}
	return whole, win.Fence(ctx) // the Gets are complete
}

// free gives the windows back.
func (s *solver) free(ctx context.Context) error {
	for _, win := range s.states {
		if err := win.Free(ctx); err != nil {
			return err
		}
	}
	return nil
}
