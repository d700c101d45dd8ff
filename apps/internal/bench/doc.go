// Package bench is what the benchmarks share: their flags, the clock, the lines they
// print and the patterns they verify with; and what programs share that do the same
// thing in several modes, dsm and pagerank.
//
// An operation's time is the median of several batches of many operations each.
// Iteration counts are those that the peers' programs under apps/peers/c use, so
// that like is compared with like. A clock's loops belong to the benchmark: an
// operation of a few nanoseconds must not pay for a call through here.
//
// Nothing here is shared between goroutines.
package bench
