package main

// damping is the chance to go on to a package that is imported, rather than to any.
const damping = 0.85

// A share is some of the packages, first to end-1.
type share struct {
	*graph
	first, end int
	ranks      []float64 // of these packages
}

func newShare(g *graph, first, end int) *share {
	s := &share{graph: g, first: first, end: end, ranks: make([]float64, end-first)}
	for i := range s.ranks {
		s.ranks[i] = 1 / float64(g.packages())
	}
	return s
}

// give stores in values what each package gives to everyone that it imports, and returns what
// those have that import nothing: all packages get that.
func (s *share) give(values []float64) (rest float64) {
	for i, rank := range s.ranks {
		if n := s.imports[s.first+i]; n > 0 {
			values[i] = rank / float64(n)
		} else {
			values[i] = 0
			rest += rank
		}
	}
	return rest
}

// take computes the ranks from what the importers give, and from the rest of all packages.
// Every mode and the serial computation go through it, and through sum.
func (s *share) take(rest float64, sum func(importers []int32) (float64, error)) error {
	n := float64(s.packages())
	all := (1-damping)/n + float64(damping*rest)/n
	for i := range s.ranks {
		v := s.first + i
		got, err := sum(s.importers[s.begin[v]:s.begin[v+1]])
		if err != nil {
			return err
		}
		s.ranks[i] = all + float64(damping*got)
	}
	return nil
}

// serial computes all ranks, from as many shares as there are ranks: rests are added up
// share by share.
func serial(g *graph, shares, iterations int) []float64 {
	values, all := make([]float64, g.packages()), make([]*share, shares)
	for rank := range all {
		first, end := g.share(rank, shares)
		all[rank] = newShare(g, first, end)
	}
	sum := func(importers []int32) (got float64, err error) {
		for _, u := range importers {
			got += values[u]
		}
		return got, nil
	}
	for range iterations {
		rest := 0.0
		for _, s := range all {
			rest += s.give(values[s.first:s.end])
		}
		for _, s := range all {
			s.take(rest, sum) // sum has no errors
		}
	}
	var ranks []float64
	for _, s := range all {
		ranks = append(ranks, s.ranks...)
	}
	return ranks
}
