// Package foreign registers memory that is not the arena's when it is first used by
// an operation, and keeps it registered for the next one: mapped files, memory of C
// libraries.
//
//	c := foreign.New(foreign.Config{Rank: 3, Registrar: endpoint, Limit: limit})
//	err := c.Adopt(file)              // it stays mapped until Invalidate
//	...
//	use, ok, err := c.Acquire(file[a:b]) // registers, or finds it registered
//	...  use.Remote() ...
//	err = use.Release()               // stays registered
//	...
//	err = c.Invalidate(file)          // before it is unmapped
//
// The classical corruption: memory is unmapped while a registration of it is cached,
// something else is mapped at the same address, and the NIC goes on with the old
// pages. Nobody tells a process of its own unmapping (intercepting it, as other
// systems do, misses whatever does not go through the C library), so the program does,
// by Invalidate. For the same reason the Go heap is never registered here: its pages
// come and go without a word.
//
// Goroutine safety: every function may be called from any goroutine.
//
// Lock order: Cache.changing, then Cache.mu. changing is held while something is
// registered, evicted or invalidated; mu for a search and a few words, never over a
// call of the registrar. Finding what is registered takes only mu.
package foreign
