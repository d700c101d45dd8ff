// Package pmi speaks with the process manager that has started this process:
// PMI-1 and PMI-2, over the descriptor or the address that it has left in the
// environment. It imports nothing but the standard library and launcher/boot/pmi/wire.
//
// A process manager gives a process its rank and the number of ranks, and keeps
// values under keys: what was put before a fence can be got behind it, by every
// rank. Values of any bytes and any length are taken; they are written in base64
// and cut up as the process manager's limits have it.
//
// A process that ends between [Open] and [Conn.Finalize] has failed, and process
// managers then end the job unless they were asked not to.
//
// Goroutine safety: the methods of a [Conn] may be called from any goroutine. One
// mutex is held over a command and its answer, a fence's included.
package pmi
