// Package schedule says what each rank does in a collective: which step, with
// which peer, after what. It is pure: it knows numbers only. It moves no byte,
// waits for nobody and imports nothing that could. Package collectives carries
// the schedules out.
//
// A [Plan] names an algorithm and everything a schedule depends on beside the
// rank; it is comparable, so it serves as the key of a cache. [Plan.Schedule]
// gives one rank's [Schedule]: steps in a list, each naming the earlier steps it
// must wait for. [ForBcast] and its siblings choose an algorithm for a size.
//
// # How a schedule is carried out
//
// Between each ordered pair of ranks runs one stream of elements. The sends of a
// rank to one peer enter that stream in list order, and the receives from one
// peer leave it in list order. Beyond that, every step whose dependencies are
// complete may make progress at any time, a few elements at a time, together
// with all others. A send may block until the matching receive takes its
// elements: no schedule counts on buffering. [Check] proves this of a set of
// schedules, and that no step can disturb another's buffer.
//
// # Buffers
//
// In is the caller's input, never written. Out is the result. Temp is scratch.
// Offsets and lengths count elements. A caller may pass the same memory as In
// and Out (MPI_IN_PLACE, MPI 5.0 section 6.2); [Schedule.InAt] says where In
// then lies within Out, and every schedule here is right in that case too.
//
// # Order of reduction
//
// Each element is combined in one documented order, the same on every rank, by
// operations done in one place or done identically in several; so all ranks get
// bitwise identical results, whatever the operation does with NaNs or rounding
// (MPI 5.0 section 6.9.1, advice to implementors). The file of each algorithm
// states its order.
//
// Semantics are those of MPI 5.0 chapter 6. Everything here is safe for
// concurrent use: schedules are values that nobody modifies.
package schedule
