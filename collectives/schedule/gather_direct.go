package schedule

// gatherDirect: everyone sends to the root. Each element is moved once.
func gatherDirect(p Plan, rank int) Schedule {
	b := newBuilder(rank, p.Size, p.Count, 0)
	if rank != p.Root {
		b.send(p.Root, Ref{In, 0}, p.Count)
		return b.Schedule
	}
	b.Out, b.InAt = p.Count*p.Size, p.Count*rank
	b.copy(Ref{Out, p.Count * rank}, Ref{In, 0}, p.Count)
	for i := 1; i < p.Size; i++ {
		peer := (rank + i) % p.Size
		b.recv(peer, Ref{Out, p.Count * peer}, p.Count)
	}
	return b.Schedule
}
