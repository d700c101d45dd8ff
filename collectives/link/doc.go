// Package link is a stream of bytes from a rank to one on another host: the ring it
// goes through lies at the reader, the writer puts into it from afar, and the two
// tell each other how far they are.
//
// It is runtime/pipe where the two do not share memory. What a [Writer] puts and
// what either tells is carried by functions it is given; the numbers that arrive are
// handed to [Writer.Taken] and [Reader.Written].
//
// # Ordering
//
// The carrier delivers what is told behind everything put before it. So the bytes
// before a position that Written was given are there.
//
// # Goroutine safety
//
// Taken and Written may be called from any goroutine, at any time. Everything else
// of one end belongs to one goroutine at a time.
package link
