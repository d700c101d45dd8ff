package schedule

// reduceScatterGather: each rank combines one part of the vector (a direct
// pairwise reduce-scatter) and sends the result to the root. A rank moves and
// combines about the vector's length instead of log2 n times that.
//
// Order: by rank, x0 op x1 op ... from the left.
//
// Rabenseifner: Optimization of Collective Reduction Operations. ICCS 2004;
// Thakur, Rabenseifner, Gropp 2005 (pairwise exchange).
func reduceScatterGather(p Plan, rank int) Schedule {
	b := newBuilder(rank, p.Size, p.Count, 0)
	root := rank == p.Root
	if root {
		b.Out, b.InAt = p.Count, 0
	}
	mine := part(rank, p.Size, p.Count)
	f := newFolder(b, mine, p.Chunk, rank >= 2 || !root)
	sent := newSentChunks(p)
	folded := make([]int, sent.rounds+sent.lag)
	for c := range folded {
		b.scatter(p, c, sent)
		folded[c] = f.foldFor(p, c)
		if old := c - sent.lag; old >= 0 && !root {
			f.toRoot(p, old, folded[old])
		}
		if root {
			b.collect(p, c-sent.lag, sent)
		}
	}
	return b.Schedule
}

// foldFor folds chunk c to where the root, or a rank on the root's behalf, keeps it.
func (f *folder) foldFor(p Plan, c int) int {
	if f.Rank == p.Root {
		return f.fold(c, Ref{Out, f.mine.chunk(c, f.chunk).off})
	}
	return f.fold(c, f.scratch[c%2])
}

// toRoot sends chunk c, folded in scratch, to the root.
func (f *folder) toRoot(p Plan, c, folded int) {
	n := f.mine.chunk(c, f.chunk).n
	f.freed[c%2] = f.send(p.Root, f.scratch[c%2], n, folded)
}
