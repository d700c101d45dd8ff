package world

// An Operation is a collective operation, for errors. It is a number so that the
// word which says that one is under way says which.
type Operation uint32

// The operations that frame themselves with Enter and Exit. 0 is none.
const (
	OpSplit Operation = iota + 1
	OpDup
	OpFree
	OpAllocate
	OpBarrier
	OpBcast
	OpReduce
	OpAllreduce
	OpGather
	OpAllgather
	operations
)

var operationNames = [operations]string{
	0: "one that has just ended", OpSplit: "Split", OpDup: "Dup", OpFree: "Free",
	OpAllocate: "Allocate",
	OpBarrier:  "Barrier", OpBcast: "Bcast", OpReduce: "Reduce",
	OpAllreduce: "Allreduce", OpGather: "Gather", OpAllgather: "Allgather",
}

func (op Operation) String() string { return operationNames[min(op, operations-1)] }
