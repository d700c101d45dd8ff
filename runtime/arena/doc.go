// Package arena is a rank's memory that peers may touch. It lies outside the Go
// heap, in sealed memfd segments whose descriptors the ranks of a host hand each
// other, and nothing moves it.
//
//	a := arena.New(arena.Config{Rank: 3, Publish: publish, Reserve: reserve})
//	buf, err := arena.Alloc[float64](a, 1<<20)
//	...
//	err = arena.Free(a, buf)
//
// A segment is mapped large and filled as it is used: before pages are filled,
// Config.Reserve compares them with the memory there is, because a memfd maps at
// any size and meets the OOM killer afterwards. Extents are cut from segments by
// size class and reused within their class, last freed first.
//
// With a registrar (Register) every segment is registered once, when it is made, and
// Remote tells the key of whatever Alloc returns without a call of the driver. Freed
// memory stays registered. It is kept from reuse while a rank that was given it may
// still write there (Hold, FreeUnder, Confirm). Pages and registrations are given
// back under pressure, by whole segments, in batches (Relieve).
//
// Goroutine safety: every function may be called from any goroutine, except that
// nothing may use the arena or its memory while Close runs or after it.
//
// Lock order: Arena.growing, then Arena.mu. growing is held while a segment is
// made, filled, published, registered and put to sleep; mu for a few words at a time,
// never over a system call, a callback or the zeroing of memory. Locate and Remote
// take no lock.
//
// Invariants, under mu:
//
//	0 <= segment.next <= segment.ready <= len(segment.mem)
//	blocks of one segment do not overlap and end at or below next
//	a block is on a free list exactly when its state is free
//	segment.busy counts its blocks that are not
//	a segment that is registered is populated whole
//	Mapped = InUse + Free + Quarantined + what no block was cut from yet
//
// The bookkeeping lies on the Go heap, where no peer can write.
package arena
