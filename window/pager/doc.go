// Package pager is a rank's side of the coherent windows of its host: the line to the
// host's pager process (window/pager/process), and the view of each window through which
// the rank reads and writes.
//
// A view is the whole window, all ranks' parts, as memory of this process. A page that
// the host does not have, or may not write, makes the access wait until the pager has
// fetched it: in the kernel, by userfaultfd. The board, a byte a page that the pager
// keeps in memory that both share, says beforehand what may be done, so that a call can
// ask for pages and park as a goroutine, which holds neither a thread nor a P. The board
// is a hint: what it says may be over the moment after, and then the access waits.
//
// # Memory ordering
//
// What a page holds is ordered by the kernel: a page is write-protected, or taken away,
// in every view before its content goes anywhere. The board's bytes are loaded and stored
// plainly: nothing follows from them. Requests and answers go through rings, whose counters
// and sleepers' words are loaded and stored by sync/atomic (line.Mail).
//
// # Goroutine safety
//
// All methods may be called from any goroutine; Close of a View comes behind its other
// uses.
package pager
