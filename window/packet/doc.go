// Package packet is what an origin and the service of a target on another host say to
// each other: the operations that a transport does not have, and the target's lock. It
// holds no state and does no I/O.
//
// # Format
//
// All numbers are little-endian.
//
//	offset  bytes
//	0       1      kind
//	1       1      operation: an element.Op; 0 unless the kind has one
//	2       1      mode: a lock.Mode; 0 unless the kind has one
//	3       1      0
//	4       4      count of elements
//	8       8      token of the call that waits for the answer; 0: nobody does
//	16      8      displacement of the first element
//	24             data: elements, or why something was refused
//
// A packet is at most [MaxSize] bytes long. Which fields a kind has is checked when it
// is decoded; whether the elements exist, and the data are as many, is the service's
// business, which knows the window.
package packet
