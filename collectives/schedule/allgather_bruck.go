package schedule

// allgatherBruck: in round k a rank gives the one 2^k before it the 2^k blocks it
// has, and gets as many from the one 2^k after it; ceil(log2 n) rounds for any n.
// The blocks are kept where they belong in Out, so that the rotation at the end
// of the published algorithm falls away; a message is cut in two where its blocks
// wrap around rank 0.
//
// Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient Algorithms for All-to-All
// Communications in Multiport Message-Passing Systems. IEEE TPDS 8(11), 1997.
func allgatherBruck(p Plan, rank int) Schedule {
	b := newBuilder(rank, p.Size, p.Count, p.Count*p.Size)
	b.InAt = p.Count * rank
	have := []int{b.copy(Ref{Out, p.Count * rank}, Ref{In, 0}, p.Count)}
	for dist := 1; dist < p.Size; dist *= 2 {
		n := min(dist, p.Size-dist)
		to, from := (rank-dist+p.Size)%p.Size, (rank+dist)%p.Size
		for _, run := range ring(rank, n, p.Size) {
			b.send(to, Ref{Out, run.off * p.Count}, run.n*p.Count, have...)
		}
		for _, run := range ring(from, n, p.Size) {
			have = append(have, b.recv(from, Ref{Out, run.off * p.Count}, run.n*p.Count))
		}
	}
	return b.Schedule
}
