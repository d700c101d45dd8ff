// Package element knows the elements of windows: which types can be elements, which
// operations they have, and how an operation is carried out atomically on memory that
// several processes have mapped.
//
// # One mechanism for each type
//
// The size of a type decides how all of its atomic operations are carried out, at
// every origin and at the owner alike, so that they are atomic with respect to each
// other:
//
//	8 bytes, 4 bytes   the CPU's atomics on the element: add for a Sum of integers, exchange for
//	                   Replace, a compare-and-swap loop for everything else
//	2 bytes, 1 byte    a compare-and-swap loop on the aligned 4-byte word around it; it also
//	                   notices, and keeps, plain stores to its neighbours
//	any other size     plain code, under a lock that covers a range of elements (the window's)
//
// An operation that is not atomic (Put, Get, plain loads and stores) may meet an
// atomic one only as MPI allows. See docs/windows.md for what it then sees.
//
// # Goroutine safety
//
// Everything here may be called from any goroutine. There are no locks.
package element
