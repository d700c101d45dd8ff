package main

// The counts of is in the three modes. Rank r has section r of them. Each rank first stores
// its own counts of its section, so that nobody has to clear it; then the others add
// theirs. The last fence keeps the next round from storing before all have read.

func newIsMemory(j *job) (isMemory, error) {
	each := most(keyRange, j.ranks())
	a, err := newArray[int64](j, "is", each)
	s := isSections{array: a, buffer: make([]int64, each)}
	switch {
	case err != nil:
		return nil, err
	case j.mode == rma:
		return &isRMA{s}, nil
	case j.mode == calls:
		return &isCalls{s}, nil
	}
	return &isLoads{s}, nil
}

type isSections struct {
	*array[int64]
	buffer []int64
}

func (s *isSections) length() int { return s.each * s.ranks() }

// section is that of a rank: of counts, which may end within the last ones, or of totals.
func (s *isSections) section(counts []int64, rank int) []int64 {
	return counts[min(rank*s.each, len(counts)):min((rank+1)*s.each, len(counts))]
}

// turns calls add with each section but the own one. Between two fences a section is one
// rank's.
func (s *isSections) turns(counts []int64, add func(rank int, counts []int64) error) error {
	for turn := 1; turn < s.ranks(); turn++ {
		if err := s.fence(); err != nil {
			return err
		}
		rank := (s.me() + turn) % s.ranks()
		if err := add(rank, s.section(counts, rank)); err != nil {
			return err
		}
	}
	return s.fence()
}

// others calls do with each section.
func (s *isSections) sections(counts []int64, do func(rank int, counts []int64) error) error {
	for turn := range s.ranks() {
		rank := (s.me() + turn) % s.ranks()
		if err := do(rank, s.section(counts, rank)); err != nil {
			return err
		}
	}
	return nil
}

// fetch gets all sections.
func (s *isSections) fetch(totals []int64) error {
	err := s.sections(totals, func(rank int, totals []int64) error { return s.get(rank, 0, totals) })
	if err != nil {
		return err
	}
	return s.fence()
}

// isRMA accumulates, whoever else does so meanwhile.
type isRMA struct{ isSections }

func (s *isRMA) sum(counts, totals []int64) error {
	copy(s.part(s.me()), s.section(counts, s.me()))
	if err := s.fence(); err != nil {
		return err
	}
	err := s.sections(counts, func(rank int, counts []int64) error {
		if rank == s.me() {
			return nil
		}
		return s.add(rank, 0, counts)
	})
	if err != nil {
		return err
	}
	if err := s.fence(); err != nil {
		return err
	}
	return s.fetch(totals)
}

// isCalls gets a section, adds to it and puts it, when it is its turn.
type isCalls struct{ isSections }

func (s *isCalls) sum(counts, totals []int64) error {
	if err := s.put(s.me(), 0, s.section(counts, s.me())); err != nil {
		return err
	}
	err := s.turns(counts, func(rank int, counts []int64) error {
		sums := s.buffer[:len(counts)]
		if err := s.get(rank, 0, sums); err != nil {
			return err
		}
		addTo(sums, counts)
		return s.put(rank, 0, sums)
	})
	if err != nil {
		return err
	}
	return s.fetch(totals)
}

// isLoads adds where the sections are, when it is its turn.
type isLoads struct{ isSections }

func (s *isLoads) sum(counts, totals []int64) error {
	copy(s.part(s.me()), s.section(counts, s.me()))
	err := s.turns(counts, func(rank int, counts []int64) error {
		addTo(s.part(rank), counts)
		return nil
	})
	if err != nil {
		return err
	}
	for rank := range s.ranks() {
		copy(s.section(totals, rank), s.part(rank))
	}
	return s.fence()
}

func addTo(sums, counts []int64) {
	for i, n := range counts {
		sums[i] += n
	}
}
