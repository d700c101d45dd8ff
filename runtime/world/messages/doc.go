// Package messages carries the messages of a rank: Send and Recv with their
// matching, short messages at once, long ones by rendezvous.
//
// # How a message travels
//
//   - Up to [Eager] bytes it goes as one message of the transport. It waits at the
//     receiver, copied, if no receive wants it yet.
//   - Up to 1 MiB, between ranks that share memory, it goes through a stage: the
//     sender copies it there and the receiver from there, behind it.
//   - Longer ones are announced. Between ranks that share memory both sides then
//     copy pieces straight between the two buffers: through mapped memory where a
//     buffer lies in an arena, else by process_vm_readv and process_vm_writev.
//   - Between other ranks the beginning of the message, up to 1 MiB, follows the
//     announcement if the receiver has granted a slot of its porch for it. For the rest
//     the receiver registers its buffer and the sender Puts there.
//   - Where ranks share memory but may not touch each other's, or where a device
//     would have to register a buffer of the heap, the message goes through a window
//     of arena memory at the receiver, in parts.
//
// # Who does the work
//
// A Handler only matches. What takes time (copying, Putting) is done by the
// goroutine that is in a call for that message; if there is none, as for an IRecv
// that nobody waits for yet, by a goroutine started for it. So a message that has
// been matched gets across whatever its ranks wait for.
//
// # Waiting
//
// Of all goroutines of a rank that wait for messages, one is in the rank's waiter,
// the look-out; the others are parked on channels of their own and are woken when
// their request is over, when it needs them, or to be the next look-out.
//
// # Lock order
//
// Messages.mu is a leaf for other packages' locks, with one exception: the router's
// turn is held when a handler is called, and by a direct receive when it posts itself. Nothing of the router but Post is called
// with mu held.
package messages
