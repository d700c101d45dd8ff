// Package quarantine decides when memory that was freed may be used again. It is
// pure: no clock, no lock, no transport, and is explored exhaustively.
//
// A rank gives peers the keys of its memory. When it frees the memory, a peer that
// has not heard of it may still write there, and what it wrote may still be under
// way: reused too early, the memory would change under its new owner. So what is
// freed is kept until every rank that could touch it has confirmed that it does
// so no more.
//
// # Holds
//
// A hold is the right of some ranks to touch memory of this one: a window's memory
// has one, and so has everything that a communicator's operations may have been
// given. Each rank confirms a hold once, in its own time:
//
//	origin   refuse the stale handle from now on
//	         complete what was begun with it (Flush)
//	         send Confirm behind that
//	owner    Confirm(hold, origin); the last one releases what the hold kept
//
// A hold keeps what is freed on it and, if it is wide, whatever is freed while it
// is open: nobody knows which of this rank's buffers a broken communicator's
// operations were at. A rank may confirm before the owner opens the hold, because
// it failed first; that counts.
//
// A rank that is gone confirms everything. It is gone when nothing of it can arrive
// any more, which is later than its death where the network still holds its
// operations.
package quarantine
