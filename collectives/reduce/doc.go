// Package reduce combines arrays element by element: dst[i] = a[i] op b[i]. It is what Reduce, Allreduce and
// Accumulate do to memory, with no knowledge of ranks.
//
// The element kind and the operation are values, not type parameters, so that a schedule of a collective can be
// carried out by code that only sees bytes; Slices is the same for callers that hold typed slices.
//
// # Results
//
// A result depends on nothing but its two operands: not on the length, the alignment, the position in the array,
// the number of destinations, the processor, nor on which kernel (assembly or Go) ran. So every rank may compute
// any part, and the parts fit.
//
//   - Integer Sum and Prod wrap around.
//   - A floating-point result that is NaN is always the same NaN: math.NaN(), and its conversion to float32. The
//     sign and payload of an operand are not handed on. That makes every operation commutative to the last bit: a
//     rank that computes a+b and one that computes b+a agree.
//   - Min and Max of floating-point numbers are NaN when either operand is, and hold -0 to be less than +0, as Go's
//     own min and max do. MPI 4.1, section 6.9.2, leaves both open.
//   - Complex Sum and Prod are computed by component, without fused multiply-add; the products of complex64 are
//     rounded once, from float64, as Go's are. Complex numbers have no Min and Max.
//   - And, Or and Xor are bitwise and for integers only.
//
// Sum and Prod of floating-point numbers are commutative but not associative: the order of more than two operands
// is the caller's.
//
// # Memory
//
// A destination may be exactly a or exactly b, and the destinations of Into2 may be one another. A destination that
// overlaps an operand in any other way gives unspecified elements. The addresses are multiples of the element's
// alignment, as those of Go slices and of arena memory are.
//
// All functions are safe for concurrent use on memory that nobody else writes, allocate nothing, and do not let
// their arguments escape.
package reduce
