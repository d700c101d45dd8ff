// Package lock is the queued lock of a window's passive target: shared or
// exclusive, first come first served, in memory that the members share. One Lock
// value is one member's view of the lock of one target.
//
// # Protocol
//
// The lock's block of shared memory holds three words and a slot a member:
//
//	state    contended bit, exclusive bit, and the owner (member+1) or the number of readers
//	latch    who is inside a slow path (member+1, 0: nobody), and whether others wait for it
//	ticket   the next place in the queue
//	slot[m]  member m's request: a phase, the mode and the ticket
//
// While nobody waits, the contended bit is clear and state alone is the lock:
// acquiring is one compare-and-swap from 0 to the owner (or from s to s+1 readers),
// releasing is one back. Whoever cannot acquire like this draws a ticket, announces
// the request in its own slot and enters the latch. Every slow path (a request, a
// release that finds the contended bit, a withdrawal) does the same under the latch:
//
//  1. freeze: set the contended bit; from now on every fast path fails, and state
//     belongs to the holder of the latch;
//  2. edit: a release takes its own hold out of state, a withdrawal empties its slot;
//  3. settle: read every slot; requests that are only announced become part of the
//     queue, whoever made them, which is why a member that keeps losing the race for
//     the latch is queued by the next winner all the same; then grant in the order of
//     the tickets what the lock's state allows, one writer or every reader in front
//     of the first writer; then store the new state, contended if somebody is left;
//  4. leave the latch and ring those who were granted the lock or wait for the latch.
//
// A granted member learns of it from its slot, which it empties; no other access to
// the lock is needed and nobody can overtake it, because the lock is handed over and
// never freed in between.
//
// The slow paths are a [Machine]: a pure description of one shared-memory access at
// a time. The tests explore every interleaving of it exhaustively, with cancellation
// and death at every step, and [Lock] runs the same machine on real memory, so there
// is no second description that could differ.
//
// # Memory ordering
//
// All words are accessed with Go's atomics only, which are sequentially consistent
// and order plain accesses as acquire and release do: what the former holder stored
// before its release is seen by whoever acquires after it, also when a third member
// carries out the hand-over, since that one has read the holder's release and the
// new holder reads its grant.
//
// # Failure
//
// The latch names its holder. If that member dies there, everybody who needs the
// latch gets its failure as the error. A member that waits in the queue gives up as
// soon as any member has failed, because the dead one may be the holder, or be
// granted the lock. Nobody ever waits for a dead member.
//
// # Lock order and goroutine safety
//
// The latch is a leaf: its holder executes a bounded number of steps, none of which
// waits. A Lock belongs to one goroutine at a time.
package lock
