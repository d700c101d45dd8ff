package main

import (
	"errors"

	"github.com/golaunch/golaunch/apps/internal/bench"
	"github.com/golaunch/golaunch/collectives"
	"github.com/golaunch/golaunch/runtime/arena"
)

// A variant is a way of making an Allreduce.
type variant struct {
	op    string
	sum   func(in, out *buffer) error
	clock *bench.Clock
}

// allreducesPerCall times Allreduces that register their buffers, in turn with those
// that do not if they are wanted, too: so other programs disturb both alike.
func (s *suite) allreducesPerCall(size int) error {
	variants := []*variant{{op: perCall, sum: s.registerAndSum}}
	if s.opt.Wants(registeredBefore) {
		variants = append(variants, s.before(size))
	}
	if err := s.allreduce(size, variants); err != nil {
		return err
	}
	return s.report(variants[0].clock, perCall, bench.Arena, size)
}

// allreducesPre times those that register nothing, unless that was done.
func (s *suite) allreducesPre(size int) error {
	v := s.before(size)
	if v.clock == nil {
		if err := s.allreduce(size, []*variant{v}); err != nil {
			return err
		}
	}
	return s.report(v.clock, v.op, bench.Arena, size)
}

// before is the variant that registers nothing, always the same one for a size.
func (s *suite) before(size int) *variant {
	if s.pre == nil {
		s.pre = map[int]*variant{}
	}
	if s.pre[size] == nil {
		s.pre[size] = &variant{op: registeredBefore, sum: s.sum}
	}
	return s.pre[size]
}

// registerAndSum registers input and output before the Allreduce and ends that after
// it, as a library without memory of its own does.
func (s *suite) registerAndSum(in, out *buffer) error {
	endIn, err := s.registering(in.bytes)
	if err != nil {
		return err
	}
	endOut, err := s.registering(out.bytes)
	if err != nil {
		return errors.Join(err, endIn())
	}
	return errors.Join(s.sum(in, out), endIn(), endOut())
}

func (s *suite) sum(in, out *buffer) error {
	return collectives.Allreduce(s.ctx, s.comm, in.floats, out.floats, collectives.Sum)
}

// allreduce has variants take turns, a batch each. Who goes first changes.
func (s *suite) allreduce(size int, variants []*variant) error {
	in, err := s.buffer(size)
	if err != nil {
		return err
	}
	out, err := s.buffer(size)
	if err != nil {
		return err
	}
	n := s.opt.Iterations(reductions(size), s.comm.Size(), s.cores)
	for _, v := range variants {
		v.clock = bench.NewClock(s.opt.Batches, n)
		if err := s.verify(v, in, out); err != nil {
			return err
		}
	}
	err = s.steady(func() error {
		for turn := range s.opt.Batches {
			for k := range variants {
				if err := s.batch(variants[(turn+k)%len(variants)], n, in, out); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return errors.Join(err, arena.Free(s.comm.Arena(), in.floats), arena.Free(s.comm.Arena(), out.floats))
}

func (s *suite) batch(v *variant, n int, in, out *buffer) error {
	if err := collectives.Barrier(s.ctx, s.comm); err != nil {
		return err
	}
	v.clock.Start()
	for range n {
		if err := v.sum(in, out); err != nil {
			return err
		}
	}
	v.clock.Stop()
	return bench.HoldsSum(out.floats, s.comm.Size(), s.seed)
}

// verify makes a sum that differs from those before. It warms up as well.
func (s *suite) verify(v *variant, in, out *buffer) error {
	s.seed += 3
	bench.FillFloats(in.floats, s.seed+float64(s.comm.Rank()))
	if err := v.sum(in, out); err != nil {
		return err
	}
	return bench.HoldsSum(out.floats, s.comm.Size(), s.seed)
}

// A buffer is memory of the arena as elements and as bytes.
type buffer struct {
	floats []float64
	bytes  []byte
}

// reductions is how many Allreduces of size bytes a batch has.
func reductions(size int) int {
	switch {
	case size <= 64<<10:
		return 300
	case size <= 1<<20:
		return 30
	}
	return 4
}

func (s *suite) buffer(size int) (*buffer, error) {
	floats, err := arena.Alloc[float64](s.comm.Arena(), size/word)
	if err != nil {
		return nil, err
	}
	return &buffer{floats, asBytes(floats)}, nil
}
