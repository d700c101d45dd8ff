// Package rendezvous is how a message too long to be sent as it is gets across: as
// rules without memory, clocks or locks.
//
// The sender announces the message (Ready) and keeps its buffer. When a receive
// matches, one of two things happens.
//
// Ranks that share memory copy. The message is cut into pieces, and each side
// copies pieces between the two buffers as long as there are any: the receiver as
// soon as it has matched, the sender whenever it is in a call that waits for it. A
// piece is taken by claiming it in a [State], one word of memory that both sides
// map and change by compare-and-swap only. Whoever is busy elsewhere delays
// nothing.
//
// Other ranks push. The receiver registers its buffer and tells where it is
// (Clear); the sender Puts the message there and says so (Done), behind the Puts. A
// receiver may have granted a slot of memory (Grant): the beginning of a message, or all
// of it, is Put there behind its Ready, and needs no Clear (Begun).
//
// # Giving up
//
// A side that gives up closes the word. No piece can be claimed then, and it waits
// for pieces that were claimed before: at most one, which is being copied. Both
// sides read the outcome from the same word, and after it neither buffer is
// touched by the other side. A message withdrawn before a receive matched it has
// never been sent.
package rendezvous
