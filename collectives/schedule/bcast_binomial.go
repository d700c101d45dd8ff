package schedule

// bcastBinomial: in round k the ranks that have the data, 2^k of them, pass it on
// to as many others; ceil(log2 n) rounds. The data is in the root's Out, and ends
// in everyone's.
//
// Thakur, Rabenseifner, Gropp: Optimization of Collective Communication
// Operations in MPICH. Int. J. High Performance Computing Applications 19(1), 2005.
func bcastBinomial(p Plan, rank int) Schedule {
	b := newBuilder(rank, p.Size, 0, p.Count)
	relative, data := p.relative(rank), Ref{Out, 0}
	got, child := none, 1
	for ; child < p.Size; child *= 2 {
		if relative&child != 0 {
			got = b.recv(p.absolute(relative-child), data, p.Count)
			break
		}
	}
	// The farthest child first: it has the largest subtree below it.
	for child /= 2; child > 0; child /= 2 {
		if relative+child < p.Size {
			b.send(p.absolute(relative+child), data, p.Count, got)
		}
	}
	return b.Schedule
}
