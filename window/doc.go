// Package window is memory that every rank of a communicator may reach: Put, Get and
// atomic updates of typed elements at any rank, without that rank doing anything, and
// the ways to synchronise them (MPI-4.1 chapter 12).
//
//	win, err := window.Allocate[float64](ctx, comm, 1<<20, window.Name("halo"))
//	...
//	err = win.Fence(ctx)              // from here on, operations may be used
//	err = win.Put(right, 0, edge)     // elements 0, 1, ... of rank right's part
//	err = win.Fence(ctx)              // everybody's Puts are visible everywhere
//	use(win.Local())
//	err = win.Free(ctx)
//
// Operations on a target belong to an epoch, which a synchronisation call opens:
// Fence for everybody at once (active target), Lock or LockAll by one rank alone
// (passive target). Outside an epoch they are errors. docs/windows.md describes
// the memory model, what each path costs, and the lock's protocol.
//
// # Cost
//
// The ranks of a host have each other's parts mapped. Put and Get are then a bounds
// check, which is also the check for an epoch, and a copy; FetchAdd is one
// instruction of the CPU; Flush is a fence; Lock and Unlock are one compare-and-swap
// each while nobody else wants the lock. None of them allocates.
//
// A part on another host is reached by messages, which its rank's process serves
// whatever the program there does. A Put leaves when it is called; Get, Flush, Lock, Unlock
// and every operation that brings a value wait for one round trip.
//
// # Goroutine safety
//
// Any number of goroutines of a rank may use Put, Get, Accumulate, FetchAdd,
// FetchAndOp, CompareAndSwap, Flush and FlushAll at a time. A synchronisation call
// (Fence, Lock, Unlock, LockAll, UnlockAll, Free) must not overlap with another one on
// the same window, nor with operations in an epoch that it opens or ends: the
// goroutines of a rank must arrange that among themselves.
//
// # Lock order
//
// Collective calls hold the communicator (world's Enter) while they wait; a latch over
// a range of elements, and the latch of a lock, are leaves. What serves other hosts
// takes client.mu, then deputy.mu, and posts answers under them; calls.mu is a leaf.
// Nobody waits with one of these.
package window
