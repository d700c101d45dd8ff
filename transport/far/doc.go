// Package far is the way to ranks of other hosts: by TCP, by an RDMA device, or by either.
// Ranks use it, and so do pagers, which are the ranks of a job of their own.
//
// Two ranks use their devices if both have one, else TCP. Each sees that from the other's
// address, so they agree without asking, and a rank without a device keeps no others from
// using theirs. That two devices reach each other is taken for granted.
//
// Memory has the same key for both transports: who learns of a Remote need not know which
// of them its owner is reached by.
//
// It is the one place that names these two transports. Any method may be called from any
// goroutine. There are no locks.
package far
