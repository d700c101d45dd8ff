package schedule

// The collectives of two levels: inside the hosts, where ranks share memory, and
// between them, by one rank each. What crosses between two hosts then crosses once,
// and not once for every rank there.
//
// Karonis, de Supinski, Foster, Gropp, Lusk, Bresnahan: Exploiting hierarchy in
// parallel computer networks to optimize collective operation performance. IPDPS
// 2000.

// allreduceTwoLevel: the ranks of a host reduce to their leader, the leaders
// allreduce, and each tells its host.
//
// Order: by rank inside each host, and by the leaders' ranks between the hosts.
func allreduceTwoLevel(p Plan, rank int) Schedule {
	b, l := newBuilder(rank, p.Size, p.Count, p.Count), p.levels(rank)
	b.InAt = 0
	sum := b.reduceInside(p, l, Ref{In, 0})
	if l.leads() {
		b.append(stage{
			build:   allreduceReduceScatterAllgather,
			plan:    Plan{Size: len(l.leaders), Count: p.Count, Chunk: p.Chunk},
			members: l.leaders, me: l.host, in: sum, out: Ref{Out, 0},
		})
	}
	b.bcastInside(p, l)
	return b.Schedule
}

// reduceTwoLevel: the ranks of a host reduce to their leader, and the leaders to the
// root, which is one of them.
//
// Order: as allreduceTwoLevel.
func reduceTwoLevel(p Plan, rank int) Schedule {
	b, l := newBuilder(rank, p.Size, p.Count, 0), p.levels(rank)
	if rank == p.Root {
		b.Out, b.InAt = p.Count, 0
	}
	sum := b.reduceInside(p, l, Ref{In, 0})
	if l.leads() {
		b.append(stage{
			build:   reduceScatterGather,
			plan:    Plan{Size: len(l.leaders), Root: l.root, Count: p.Count, Chunk: p.Chunk},
			members: l.leaders, me: l.host, in: sum, out: Ref{Out, 0},
		})
	}
	return b.Schedule
}

// bcastTwoLevel: the root, a leader, tells the other leaders, and each its host.
func bcastTwoLevel(p Plan, rank int) Schedule {
	b, l := newBuilder(rank, p.Size, 0, p.Count), p.levels(rank)
	if l.leads() {
		b.append(stage{
			build:   bcastChain,
			plan:    Plan{Size: len(l.leaders), Root: l.root, Count: p.Count, Chunk: p.Chunk},
			members: l.leaders, me: l.host, out: Ref{Out, 0},
		})
	}
	b.bcastInside(p, l)
	return b.Schedule
}

// reduceInside reduces the ranks of a host to their leader, and returns where that
// has the result: in Temp, or, if it is alone, where its own contribution is.
func (b *builder) reduceInside(p Plan, l levels, in Ref) (sum Ref) {
	if len(l.local) == 1 {
		return in
	}
	if l.leads() {
		sum = b.temp(p.Count)
	}
	b.append(stage{
		build:   reduceScatterGather,
		plan:    Plan{Size: len(l.local), Root: l.here, Count: p.Count, Chunk: p.Chunk},
		members: l.local, me: l.me, in: in, out: sum,
	})
	return sum
}

// bcastInside tells the ranks of a host what their leader has in Out.
func (b *builder) bcastInside(p Plan, l levels) {
	if len(l.local) == 1 {
		return
	}
	b.append(stage{
		build:   bcastChain,
		plan:    Plan{Size: len(l.local), Root: l.here, Count: p.Count, Chunk: p.Chunk},
		members: l.local, me: l.me, out: Ref{Out, 0},
	})
}
