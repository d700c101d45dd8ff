package schedule

// folder adds the steps by which a rank combines its own part of the vector from
// everyone's contributions: the reduce-scatter half of the long reductions.
//
// Order: ((x0 op x1) op x2) ... op x(n-1), by rank.
type folder struct {
	*builder
	mine    span
	chunk   int
	scratch [2]Ref // partial results of the ranks below, two chunks' worth
	freed   [2]int // the step after which that scratch may be overwritten
}

// newFolder prepares for the rank's part. Scratch is needed where ranks below
// must be combined with each other before this rank's own input is used (the
// result cannot take them: its place may be the input's), and where the result
// has no other place.
func newFolder(b *builder, mine span, chunk int, needed bool) *folder {
	f := &folder{builder: b, mine: mine, chunk: chunk, freed: [2]int{none, none}}
	if !needed {
		return f
	}
	room := mine.chunk(0, chunk).n
	for i := range min(2, mine.chunks(chunk)) {
		f.scratch[i] = b.temp(room)
	}
	return f
}

// fold combines chunk c into result and returns the step that completes it.
func (f *folder) fold(c int, result Ref) int {
	s := f.mine.chunk(c, f.chunk)
	own, slot := Ref{In, s.off}, c%2
	if f.Size == 1 {
		return f.copy(result, own, s.n)
	}
	if f.Rank == 0 {
		first := f.recvReduce(1, result, own, s.n, f.freed[slot])
		return f.above(2, result, s.n, first)
	}
	done := f.below(own, f.scratch[slot], result, s.n, f.freed[slot])
	f.freed[slot] = done
	return f.above(f.Rank+1, result, s.n, done)
}

// below combines the ranks up to and including this one, which is not rank 0.
func (f *folder) below(own, scratch, result Ref, n, free int) int {
	if f.Rank == 1 {
		return f.recvReduceLeft(0, result, own, n, free)
	}
	last := f.recv(0, scratch, n, free)
	for r := 1; r < f.Rank; r++ {
		last = f.recvReduce(r, scratch, scratch, n, last)
	}
	return f.reduce(result, scratch, own, n, last)
}

// above combines the ranks from first on into result.
func (f *folder) above(first int, result Ref, n, last int) int {
	for r := first; r < f.Size; r++ {
		last = f.recvReduce(r, result, result, n, last)
	}
	return last
}
