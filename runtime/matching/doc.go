// Package matching decides which message goes to which receive (MPI-5.0 section
// 3.5). It is a state machine without buffers, clocks or locks: its caller says
// what happens, and what travels with a message or a receive is the caller's.
//
// Two sets are kept: receives that were posted and wait for a message, and
// messages that arrived before a receive wanted them, the unexpected ones.
//
// # Rules
//
//   - A receive's pattern names a communicator, a source or AnySource, a tag or
//     AnyTag. Lengths play no part: whether a message is too long for the receive
//     that it matched is the receiver's to say, afterwards.
//   - A message goes to the receive that was posted first among those it matches.
//   - A receive takes the message that arrived first among those it matches. As a
//     transport delivers the messages of one source in the order in which they were
//     sent, none of them overtakes another one.
//   - No posted receive matches an unexpected message. This invariant is why a
//     message looks at receives only, and a receive at messages only.
//
// # Cost
//
// Receives lie in queues, one for each pattern, found by hashing. A message has
// four patterns that match it (its source and tag given or not), so at most four
// queue heads are compared, by the order of posting; patterns that nobody uses are
// not looked up. An unexpected message lies in its four queues at once, so each
// receive has one queue to look at. All operations take constant time, however
// many receives and messages there are, and allocate only when more of them than
// ever before are there at once.
//
// # Goroutine safety
//
// None: a Matcher belongs to whoever holds its owner's lock.
package matching
