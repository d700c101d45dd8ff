package main

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

func (s *sorRows) fence(colours []int) error {
	for _, c := range colours {
		if err := s.arrays[c].fence(); err != nil {
			return err
		}
	}
	return nil
}

func (s *sorRows) free() error {
	for _, a := range s.arrays {
		if err := a.free(); err != nil {
			return err
		}
	}
	return nil
}

// sorRMA keeps own rows in the window, between two rows of halo. Neighbours put
// their border rows there.
type sorRMA struct{ sorRows }

func (s *sorRMA) row(colour, i int) []float64 {
	return s.arrays[colour].part(s.me())[(i-s.first+1)*s.m:][:s.m]
}

func (s *sorRMA) exchange(colours ...int) error {
	for _, c := range colours {
		err := s.borders(func(i int) error {
			rank, _ := s.at(i)
			if rank < s.me() { // its halo below is behind its rows
				first, end := share(s.size, rank, s.ranks())
				return s.arrays[c].put(rank, (end-first+1)*s.m, s.row(c, s.first))
			}
			return s.arrays[c].put(rank, 0, s.row(c, s.end-1))
		})
		if err != nil {
			return err
		}
	}
	return s.fence(colours)
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

func (s *sorCalls) exchange(colours ...int) error {
	for _, c := range colours {
		for _, i := range []int{s.first, s.end - 1} {
			if err := s.arrays[c].put(s.me(), (i-s.first)*s.m, s.row(c, i)); err != nil {
				return err
			}
		}
	}
	if err := s.fence(colours); err != nil {
		return err
	}
	for _, c := range colours {
		err := s.borders(func(i int) error {
			rank, line := s.at(i)
			return s.arrays[c].get(rank, line*s.m, s.row(c, i))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *sorCalls) publish() error {
	for c, a := range s.arrays {
		if err := a.put(s.me(), 0, s.mine[c][s.m:][:(s.end-s.first)*s.m]); err != nil {
			return err
		}
	}
	return s.fence([]int{0, 1})
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

func (s *sorLoads) exchange(colours ...int) error { return s.fence(colours) }

func (s *sorLoads) publish() error { return nil }

func (s *sorLoads) read(colour, i int, dst []float64) error {
	copy(dst, s.row(colour, i))
	return nil
}
