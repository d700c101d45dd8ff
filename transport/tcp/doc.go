// Package tcp is the transport between ranks that share no memory. Each pair of
// ranks that talk has one TCP connection, made when one of them first dials.
//
// Frames ([wire], docs/wire.md) carry requests to the target, whose endpoint
// serves them: whoever polls there, or the endpoint's own goroutine when nobody
// does. So one-sided operations need nothing of the target's program.
//
// # Who reads a socket
//
// Poll reads sockets itself, with system calls that never wait, while its rank
// polls; the endpoint's goroutine does while the rank rests or computes. watcher
// decides which, socket by socket, and sees to it that between two ranks that poll
// no thread is woken. Encrypted connections have two goroutines each instead.
//
// # What leaves when
//
// Everything leaves at once, but for short Puts behind which an Ack is awaited
// already: those gather until it comes, until there is half a buffer of them, or
// until something that leaves at once follows. So a lone Put is not delayed, and a
// stream of them makes one system call for some hundred.
//
// # Near the top of the stack
//
// A rank that waits spends its time in Polls that find nothing, and a short message is
// two system calls. Those two calls are made by [endpoint.Poll] and [conn.Send]
// themselves, and by little above them: on its way through the kernel the processor
// loses track of where the functions that are under way return to, and each of them
// then takes 7 ns to return. What must be done before or after is done in functions
// that are called before or after.
//
// For the same reason, and for the locks, Poll hands out a Message from where it was
// read to ([hands]), and what a frame says of ours needs no lock ([hearing]).
//
// # Where a Put goes
//
// To a region of registered memory, or to a landing: memory for what one peer Puts
// before this rank knows where it wants it. Until a payload has come as a whole, it can
// be redirected.
//
// # What is bounded
//
// Messages: the receiver keeps wire.CreditBytes for each sender, which counts what
// it has sent and not got back. Operations with an OpID: the places for
// completions. Answers that a peer is owed: maxReplies, or the connection ends.
// What waits to be written: two buffers, and one payload that stays where it is.
//
// # What ends a connection
//
// A frame that does not hold, a Goodbye, an error of the socket, or no sign of life
// for the timeout while something is owed. It ends in one place, peer.fail, called
// by who reads: a writer that finds the socket broken shuts it down and leaves it to
// reading, which first finds what the peer has said last. There is no second
// connection to a rank.
//
// # Lock order
//
// endpoint.mu (how far connections have been made) or poller.mu (Poll), then
// receiver.mu (who reads a connection), then sender.mu (who writes to it), then
// watcher.mu, arrivals.mu, regions.mu, clock.mu and those of the stores, which are
// leaves. None is held in Config.Wait. Config.Ring is called under sender.mu,
// Config.Progress under endpoint.telling only, which keeps its calls apart.
package tcp
