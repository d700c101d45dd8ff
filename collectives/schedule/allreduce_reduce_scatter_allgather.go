package schedule

// allreduceReduceScatterAllgather: each rank combines one part of the vector,
// received directly from everyone, and sends the result directly to everyone. A
// rank sends and receives 2(n-1)/n of the vector, the least possible, and no
// element is stored and forwarded: the best on pipes of shared memory, where all
// pairs are equally near. Chunks let the two halves overlap.
//
// Order: by rank, x0 op x1 op ... from the left.
//
// Rabenseifner 2004; Thakur, Rabenseifner, Gropp 2005 (pairwise exchange).
func allreduceReduceScatterAllgather(p Plan, rank int) Schedule {
	b := newBuilder(rank, p.Size, p.Count, p.Count)
	b.InAt = 0
	mine := part(rank, p.Size, p.Count)
	f := newFolder(b, mine, p.Chunk, rank >= 2)
	sent := newSentChunks(p)
	folded := make([]int, sent.rounds+sent.lag)
	for c := range sent.rounds + sent.lag {
		b.scatter(p, c, sent)
		s := mine.chunk(c, p.Chunk)
		folded[c] = f.fold(c, Ref{Out, s.off})
		if old := c - sent.lag; old >= 0 {
			b.spread(p, mine.chunk(old, p.Chunk), folded[old])
		}
		b.collect(p, c-sent.lag, sent)
	}
	return b.Schedule
}

// spread sends one finished chunk to everybody.
func (b *builder) spread(p Plan, s span, folded int) {
	for i := 1; i < p.Size; i++ {
		b.send((b.Rank+i)%p.Size, Ref{Out, s.off}, s.n, folded)
	}
}
