package schedule

// bcastChain: each rank passes the data on to the next, chunk by chunk, so that
// all links of the chain work at once. Every rank sends and receives each element
// once, which is the least possible; the price is n-2 chunks of delay.
//
// Pjesivac-Grbovic, Angskun, Bosilca, Fagg, Gabriel, Dongarra: Performance
// Analysis of MPI Collective Operations. Cluster Computing 10, 2007 (pipeline).
func bcastChain(p Plan, rank int) Schedule {
	b := newBuilder(rank, p.Size, 0, p.Count)
	relative, whole := p.relative(rank), span{0, p.Count}
	for c := range whole.chunks(p.Chunk) {
		s := whole.chunk(c, p.Chunk)
		got := none
		if relative > 0 {
			got = b.recv(p.absolute(relative-1), Ref{Out, s.off}, s.n)
		}
		if relative+1 < p.Size {
			b.send(p.absolute(relative+1), Ref{Out, s.off}, s.n, got)
		}
	}
	return b.Schedule
}
