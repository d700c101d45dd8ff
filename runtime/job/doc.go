// Package job is the memory that the ranks of one host and their supervisor
// share from the first instruction: which rank is in which state, the doorbell
// each rank sleeps on, and room for what the world builds above it.
//
// The supervisor creates it as a memfd and every rank inherits the descriptor;
// an in-process world creates it for itself. It describes all ranks of the job:
// what becomes of those on other hosts, and their addresses, is written by the
// host's supervisor, who hears of it. It is sealed against shrinking, so
// no access to it can fault.
//
// # Doorbells and memory ordering
//
// A rank that has nothing to do sleeps in a futex on its bell. Losing a wake-up
// is excluded by a store-load handshake, all of it in Go's atomics, which are
// sequentially consistent:
//
//	sleeper: asleep = 1; seen = bell; if ready() { asleep = 0; return }; futex_wait(bell, seen)
//	waker:   make ready() true;       if asleep != 0 { bell++; futex_wake(bell) }
//
// Either the waker sees asleep, or the sleeper sees that it is ready. What makes
// ready() true must therefore be an atomic store, ordered before the load of
// asleep; a plain store could still sit in the store buffer.
//
// # Goroutine safety
//
// All methods may be called from any goroutine of any process that has mapped
// the memory, except that one goroutine at a time may be between [Memory.Drowse]
// and [Memory.Wake] of a rank (runtime/waiting sees to that).
//
// There are no locks here.
package job
