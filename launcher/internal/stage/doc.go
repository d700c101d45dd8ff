// Package stage brings content to hosts: each blob once to each host that lacks it,
// passed on while it arrives.
//
//	caller ──> host 0 ──> host 1 ──> host 2      data, as soon as it is there
//	       <──        <──        <──             who has everything, who fails
//
// [Push] is the sender's side, [Node] the one of a host. Between two of them is one
// stream of bytes in both directions, of which this package knows nothing more: who
// owns the connections authenticates them. How to mount a Node in an HTTP server is
// shown by this package's example.
//
// # What a host does
//
// A blob that arrives is a file that grows (a flight). One session feeds it; who
// passes it on reads it from there, each at its own pace, and so does who verifies
// it. So a slow child holds up nobody but those behind it, memory is bounded by one
// buffer for each connection, a second session for the same blob waits for the
// first one's flight, and whoever feeds it after a break goes on at its end. A blob
// is passed on before it is verified, and every host verifies what it has itself.
//
// # What goes wrong
//
// The sender alone decides: see [spread.Push]. Hosts report to it, through those
// between. A host whose parent is lost keeps what it has for a while, and is sent to
// by the sender over a new connection, which asks it where to go on. Sessions of one
// push are numbered; a host ends its older one when a newer one comes.
//
// # Locks
//
// Node.mu before flight.mu. Both are held for moments only: the node's also while
// the cache makes room, a flight's while a piece of 64 KiB at most is written.
package stage
