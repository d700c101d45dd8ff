// Package collectives has the operations that all ranks of a communicator carry
// out together: Barrier, Bcast, Reduce, Allreduce, Gather, Allgather (MPI 5.0
// chapter 6).
//
//	err := collectives.Allreduce(ctx, comm, local, global, collectives.Sum)
//
// Every rank calls the operation, in the same order, with the same element type,
// number of elements, root and Op. A difference is found before any element
// moves, and every rank gets a [*MismatchError] that says what each side called.
//
// # Four ways
//
//   - Contributions of at most 4 KiB travel in the slots of the communicator's
//     group: one round of publishing and waiting. Nothing is allocated.
//   - Larger ones in memory of the arena (arena.Alloc) are read, and results
//     written, where they are: each rank combines its part of the vector from
//     everybody's input and stores it into everybody's output.
//   - A larger Allreduce of other memory, by up to 36 ranks of one host, goes block by
//     block through memory of their arenas.
//   - Anything else goes by the schedules of package schedule through pipes
//     between the ranks.
//
// The caller sees the same result from each, and every rank gets it bitwise
// identical. Floating-point sums are combined by rank, ((x0 + x1) + x2) + ...,
// except in a Reduce of small vectors through pipes; docs/collectives.md has the
// orders, the algorithms and their sources.
//
// # Buffers
//
// In and out must be different memory or exactly the same (MPI_IN_PLACE): for
// Gather and Allgather, in place means that in is this rank's block of out.
// Elements are numbers, or for operations that do not reduce any type without
// pointers. Buffers may be reused as soon as the operation has returned.
//
// # Failure
//
// An operation that fails anywhere, by a rank's death, by the end of its context
// or by wrong arguments, breaks the communicator: this and all later operations
// on it end with an error on every rank. Out then has unspecified contents, and
// arena memory that peers may still be writing is not used again.
//
// # Goroutine safety
//
// Every function may be called from any goroutine, but only one collective
// operation may be under way on a communicator at a time; a second one gets an
// error and does nothing. There are no locks here.
package collectives
