package main

import (
	"fmt"
	"math"

	"github.com/golaunch/golaunch/apps/internal/bench"
	"github.com/golaunch/golaunch/collectives"
)

// allreduces measures every size, with input and output of one kind.
func (s *suite) allreduces(kind string) error {
	elements := s.opt.Largest() / float64s
	in, freeIn, err := bench.Buffer[float64](s.comm.Arena(), kind, elements)
	if err != nil {
		return err
	}
	out, freeOut, err := bench.Buffer[float64](s.comm.Arena(), kind, elements)
	if err != nil {
		return err
	}
	for _, size := range s.opt.Sizes {
		n := size / float64s
		if err := s.allreduce(kind, in[:n], out[:n], s.iterations(reductions(size))); err != nil {
			return fmt.Errorf("allreduce of %d bytes, %s buffers: %w", size, kind, err)
		}
	}
	if err := freeIn(); err != nil {
		return err
	}
	return freeOut()
}

// reductions is how many Allreduces of size bytes a batch has.
func reductions(size int) int {
	switch {
	case size <= 1<<10:
		return 5000
	case size <= 64<<10:
		return 500
	case size <= 1<<20:
		return 30
	}
	return 4
}

// allreduce measures batches of n Allreduces and verifies what the last one left,
// and then one more with other values: the batches repeat the same sum, which an
// Allreduce that did nothing would leave standing.
func (s *suite) allreduce(kind string, in, out []float64, n int) error {
	const first, second = 0, 3
	c := s.clock(n)
	s.prepare(in, out, first)
	if err := s.timeAllreduce(c, in, out, n); err != nil {
		return err
	}
	if err := bench.HoldsSum(out, s.comm.Size(), first); err != nil {
		return err
	}
	s.prepare(in, out, second)
	if err := collectives.Allreduce(s.ctx, s.comm, in, out, collectives.Sum); err != nil {
		return err
	}
	if err := bench.HoldsSum(out, s.comm.Size(), second); err != nil {
		return err
	}
	return s.report(c, "allreduce_f64", len(in)*float64s, kind)
}

// prepare writes this rank's input, and an output that no sum leaves standing. It
// does so as soon as Allreduce has returned here: peers must be done with both.
func (s *suite) prepare(in, out []float64, offset float64) {
	bench.FillFloats(in, offset+float64(s.comm.Rank()))
	for i := range out {
		out[i] = math.NaN()
	}
}

func (s *suite) timeAllreduce(c *bench.Clock, in, out []float64, n int) error {
	for range s.opt.Batches {
		if err := collectives.Barrier(s.ctx, s.comm); err != nil {
			return err
		}
		c.Start()
		for range n {
			if err := collectives.Allreduce(s.ctx, s.comm, in, out, collectives.Sum); err != nil {
				return err
			}
		}
		c.Stop()
	}
	return nil
}
