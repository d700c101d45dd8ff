package main

import (
	"cmp"
	"errors"

	"github.com/golaunch/golaunch/window"
)

// The rows of sor in the three modes. One fence a half step is enough: what the
// neighbours of a rank write next is the other colour.

func newSorMemory(j *job) (sorMemory, error) {
	first, end := share(j.size, j.me(), j.ranks())
	rows := sorRows{job: j, m: j.size / 2, first: first, end: end}
	each := most(j.size, j.ranks())
	if j.mode == rma {
		each += 2 // the halo
	}
	for colour := range rows.arrays {
		var err error
		if rows.arrays[colour], err = newArray[float64](j, "sor", each*rows.m); err != nil {
			return nil, err
		}
	}
	switch j.mode {
	case rma:
		return &sorRMA{rows}, nil
	case calls:
		s := &sorCalls{sorRows: rows}
		for colour := range s.mine {
			s.mine[colour] = make([]float64, (end-first+2)*rows.m)
		}
		return s, nil
	}
	return &sorLoads{rows}, nil
}

// sorRows is what the modes have in common: an array for each colour.
type sorRows struct {
	*job
	arrays     [2]*array[float64]
	m          int // elements of a row
	first, end int // own rows
}

// at is where a row lies: at which rank, and which of its rows it is.
func (s *sorRows) at(i int) (rank, line int) { return sorPlace(s.size, s.ranks(), i) }

func sorPlace(rows, ranks, i int) (rank, line int) {
	rank = i * ranks / rows
	first, end := share(rows, rank, ranks)
	if i >= end { // rounded down
		rank, first = rank+1, end
	}
	return rank, i - first
}

// borders calls do with the rows of others that border on own ones.
func (s *sorRows) borders(do func(i int) error) error {
	if s.first > 0 {
		if err := do(s.first - 1); err != nil {
			return err
		}
	}
	if s.end < s.size {
		return do(s.end)
	}
	return nil
}

// inner computes rows that need no others', and outer the first and the last.
func (s *sorRows) inner(colour int, relax func(colour, first, end int)) {
	relax(colour, s.first+1, s.end-1)
}

func (s *sorRows) outer(colour int, relax func(colour, first, end int)) {
	relax(colour, s.first, s.first+1)
	relax(colour, max(s.first+1, s.end-1), s.end)
}

// expect has pages come that the next half step needs: the neighbours' rows of the other
// colour, and the right to write the own border rows.
func (s *sorRows) expect(colour int) error {
	err := s.borders(func(i int) error {
		rank, line := s.at(i)
		return s.arrays[1-colour].expect(rank, line*s.m, s.m, window.Reading)
	})
	for _, i := range []int{s.first, s.end - 1} {
		err = cmp.Or(err, s.arrays[colour].expect(s.me(), (i-s.first)*s.m, s.m, window.Writing))
	}
	return err
}

func (s *sorRows) fence() error { return errors.Join(s.arrays[0].fence(), s.arrays[1].fence()) }
func (s *sorRows) free() error  { return errors.Join(s.arrays[0].free(), s.arrays[1].free()) }

// sorRMA keeps own rows in the window, between two rows of halo. Neighbours put
// their border rows there.
type sorRMA struct{ sorRows }

func (s *sorRMA) row(colour, i int) []float64 {
	return s.arrays[colour].part(s.me())[(i-s.first+1)*s.m:][:s.m]
}

func (s *sorRMA) begin() error { return errors.Join(s.putBorders(0), s.putBorders(1), s.fence()) }

func (s *sorRMA) half(colour int, relax func(colour, first, end int)) error {
	s.outer(colour, relax)
	if err := s.putBorders(colour); err != nil {
		return err
	}
	s.inner(colour, relax)
	return s.arrays[colour].fence()
}

func (s *sorRMA) putBorders(colour int) error {
	return s.borders(func(i int) error {
		rank, _ := s.at(i)
		if rank < s.me() { // its halo below is behind its rows
			first, end := share(s.size, rank, s.ranks())
			return s.arrays[colour].put(rank, (end-first+1)*s.m, s.row(colour, s.first))
		}
		return s.arrays[colour].put(rank, 0, s.row(colour, s.end-1))
	})
}

func (s *sorRMA) publish() error { return nil }

func (s *sorRMA) read(colour, i int, dst []float64) error {
	rank, line := s.at(i)
	return s.arrays[colour].read(rank, (line+1)*s.m, dst)
}

// sorCalls computes on a copy of its rows and of the halo. It puts its border rows
// where they belong, and gets those of the neighbours from there.
type sorCalls struct {
	sorRows
	mine [2][]float64
}

func (s *sorCalls) row(colour, i int) []float64 {
	return s.mine[colour][(i-s.first+1)*s.m:][:s.m]
}

func (s *sorCalls) begin() error { return errors.Join(s.putBorders(0), s.putBorders(1), s.fence()) }

func (s *sorCalls) half(colour int, relax func(colour, first, end int)) error {
	if err := s.expect(colour); err != nil {
		return err
	}
	s.inner(colour, relax)
	if err := s.getBorders(1 - colour); err != nil {
		return err
	}
	s.outer(colour, relax)
	if err := s.putBorders(colour); err != nil {
		return err
	}
	return s.arrays[colour].fence()
}

func (s *sorCalls) putBorders(colour int) error {
	for _, i := range []int{s.first, s.end - 1} {
		if err := s.arrays[colour].put(s.me(), (i-s.first)*s.m, s.row(colour, i)); err != nil {
			return err
		}
	}
	return nil
}

func (s *sorCalls) getBorders(colour int) error {
	return s.borders(func(i int) error {
		rank, line := s.at(i)
		return s.arrays[colour].get(rank, line*s.m, s.row(colour, i))
	})
}

func (s *sorCalls) publish() error {
	for c, a := range s.arrays {
		if err := a.put(s.me(), 0, s.mine[c][s.m:][:(s.end-s.first)*s.m]); err != nil {
			return err
		}
	}
	return s.fence()
}

func (s *sorCalls) read(colour, i int, dst []float64) error {
	rank, line := s.at(i)
	return s.arrays[colour].read(rank, line*s.m, dst)
}

// sorLoads computes where the rows are.
type sorLoads struct{ sorRows }

func (s *sorLoads) row(colour, i int) []float64 {
	rank, line := s.at(i)
	return s.arrays[colour].part(rank)[line*s.m:][:s.m]
}

func (s *sorLoads) begin() error { return s.fence() }

func (s *sorLoads) half(colour int, relax func(colour, first, end int)) error {
	if err := s.expect(colour); err != nil {
		return err
	}
	s.inner(colour, relax)
	s.outer(colour, relax)
	return s.arrays[colour].fence()
}

func (s *sorLoads) publish() error { return nil }

func (s *sorLoads) read(colour, i int, dst []float64) error {
	copy(dst, s.row(colour, i))
	return nil
}
