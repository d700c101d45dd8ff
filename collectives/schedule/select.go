package schedule

// The limits are in bytes, and were measured over the pairwise pipes of shared
// memory; docs/collectives.md has the figures, and what was dropped because of
// them. They have the form that Thakur, Rabenseifner and Gropp (2005) give: few
// steps for short messages, few bytes a rank for long ones.
const (
	chainFrom         = 32 << 10
	reduceScatterFrom = 256 << 10
	partFrom          = 8 << 10 // of a rank's part of an allreduce
)

// ForBarrier chooses the algorithm of a barrier.
func ForBarrier(size int) Algorithm { return BarrierDissemination }

// ForBcast chooses for a broadcast of that many bytes among size ranks.
func ForBcast(size, bytes int, hosts Hosts) Algorithm {
	if hosts.Tiered() {
		return BcastTwoLevel
	}
	if size > 2 && bytes >= chainFrom {
		return BcastChain
	}
	return BcastBinomial
}

// ForReduce chooses for a reduction of that many bytes among size ranks.
func ForReduce(size, bytes int, hosts Hosts) Algorithm {
	if hosts.Tiered() {
		return ReduceTwoLevel
	}
	if size > 2 && bytes >= reduceScatterFrom {
		return ReduceScatterGather
	}
	return ReduceBinomial
}

// ForAllreduce chooses for an allreduce of that many bytes among size ranks.
func ForAllreduce(size, bytes int, hosts Hosts) Algorithm {
	if hosts.Tiered() {
		return AllreduceTwoLevel
	}
	if size > 1 && bytes >= size*partFrom {
		return AllreduceReduceScatterAllgather
	}
	return AllreduceRecursiveDoubling
}

// ForGather chooses for a gather of that many bytes from each of size ranks.
func ForGather(size, bytes int) Algorithm { return GatherDirect }

// ForAllgather chooses for an allgather of that many bytes from each of size ranks.
func ForAllgather(size, bytes int) Algorithm { return AllgatherRing }
