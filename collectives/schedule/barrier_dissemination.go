package schedule

// barrierDissemination: in round k a rank tells the one 2^k after it that it, and
// all it has heard of, have arrived. After ceil(log2 n) rounds everybody has
// heard of everybody.
//
// Hensgen, Finkel, Manber: Two Algorithms for Barrier Synchronization. Int. J.
// Parallel Programming 17(1), 1988.
func barrierDissemination(p Plan, rank int) Schedule {
	b := newBuilder(rank, p.Size, 0, 0)
	heard := none
	for dist := 1; dist < p.Size; dist *= 2 {
		token := b.temp(1)
		b.send((rank+dist)%p.Size, token, 1, heard)
		heard = b.recv((rank-dist+p.Size)%p.Size, token.plus(1), 1, heard)
	}
	b.temp(1) // where the last round's token arrives
	return b.Schedule
}
