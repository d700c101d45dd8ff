// Package shm is the transport between the ranks of one host, over memory they
// share.
//
// Put, Get and the atomics are a bounds check and a copy (or a CPU atomic) on
// the peer's mapped segment; they have taken effect when the call returns.
// Messages go through a single-producer, single-consumer ring for each ordered
// pair of ranks. The package makes no system call and starts no goroutine: the
// mappings, the doorbell and the waiting come from [transport.Config].
//
// # Memory shared with other processes
//
// A control block in every rank's scratch memory (its place is the endpoint's
// address), a directory of regions, and one ring for each rank it has sent to.
// Every word has one writer, the announcement counter excepted:
//
//	control block  header      owner: written at Open; closed at Close
//	               counter     any peer, with an atomic add
//	               chunks      owner: where the region directory's chunks are
//	               entry[r]    rank r, once: where its ring to the owner is
//	chunk          slot[i]     owner: key, segment, offset and length of a region
//	ring           line 0      sender: want, set while it waits for room
//	               line 1      receiver: head, the bytes it has given back
//	               data        sender
//
// Memory ordering. What is published by storing one word is written before that
// word with plain or atomic stores, the word itself with a Go atomic store, and
// is read after an atomic load of the word has seen it:
//
//	published                     by the word
//	a region's place              key of its slot (0: closed)
//	a chunk's place               its length
//	a ring's place                length of the entry, then the counter
//	a message, and the zero       its header
//	word behind it
//	room in the ring              head
//
// Go's atomics are sequentially consistent, also between processes that share
// the memory, so two more pairs hold: "store header, then look whether the
// receiver sleeps" (in Config.Ring) against "go to sleep, then poll once more";
// and "store want, then load head" against "store head, then load want". The
// copies of Put and Get are plain: they are ordered by what the ranks do about
// them (a message, an atomic, a fence of the window), never by themselves.
//
// What a peer wrote is data from outside: places, lengths, headers and heads are
// checked against the mapping before they are used, and whatever does not hold
// is an error that names the rank, never a panic or an access out of range.
//
// # Credit
//
// A Send blocks while the ring has no room; a call with an OpID blocks while the
// endpoint's completion queue is full. Nothing is dropped and no queue grows.
//
// # What shm does not know
//
// A peer's death: memory outlives its writer, so Put and Get succeed on a dead
// rank's memory, and Send until the ring is full; then Config.Wait tells. An
// operation that had found a region open just before it was closed: it finishes.
// A slice from Map: it stays usable when the region is closed.
//
// # Locks
//
// Lock order: endpoint.mu (regions and dialling), then peer.mu (views), then
// outbox.mu (the sending side of a ring), then completions.mu. None is held while
// a call waits for credit. Poll takes completions.mu only.
package shm
