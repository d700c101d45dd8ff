package schedule

// allgatherRing: each rank passes on to the next what came from the one before;
// n-1 rounds of one block each.
//
// Thakur, Rabenseifner, Gropp 2005.
func allgatherRing(p Plan, rank int) Schedule {
	b := newBuilder(rank, p.Size, p.Count, p.Count*p.Size)
	b.InAt = p.Count * rank
	b.copy(Ref{Out, p.Count * rank}, Ref{In, 0}, p.Count)
	next, before := (rank+1)%p.Size, (rank+p.Size-1)%p.Size
	from, got := Ref{In, 0}, none
	for i := 1; i < p.Size; i++ {
		block := Ref{Out, p.Count * ((rank - i + p.Size) % p.Size)}
		b.send(next, from, p.Count, got)
		got = b.recv(before, block, p.Count)
		from = block
	}
	return b.Schedule
}
