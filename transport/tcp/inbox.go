package tcp

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/golaunch/golaunch/runtime/relax"
	"github.com/golaunch/golaunch/transport/tcp/wire"
)

// chunkBytes is the unit in which memory for messages is taken. A peer has chunks
// only while it has messages that were not given back.
const chunkBytes = 16 << 10

// An inbox is the messages of one peer, in chunks: a record is its length, then
// the message, and lies in one chunk. What of it Poll touches is guarded by
// arrivals.mu.
//
// Invariant: chunks[0] is where reading goes on, the last one is where writing
// does. Records up to read[0] were delivered. spent holds the chunks that were
// read to their end since the last free.
type inbox struct {
	store     *buffers
	announced bool  // in arrivals.ready
	lent      bool  // in arrivals.lent
	over      error // why nothing more arrives; nil: not so, or it was delivered

	chunks ring[[]byte] // their length is what has been written
	read   int          // in the first chunk
	spent  ring[[]byte]
	open   bool // a record was reserved and not committed
	lentBy int  // bytes of credit that the last Poll delivered

	used  uint32        // bytes of credit, written by whoever reads the connection
	taken atomic.Uint64 // bytes of credit given back, by Poll
}

const recordHead = 8

// empty tells whether next has nothing to deliver. Only the last chunk may be
// without records.
func (in *inbox) empty() bool {
	switch first := in.chunks.front(); {
	case first == nil:
		return true
	case in.read < len(*first) || in.chunks.count > 2:
		return false
	case in.chunks.count == 2:
		return len(*in.chunks.back()) == 0
	}
	return true
}

// reserve returns where the next message of n bytes goes. It becomes visible with
// commit. Called with arrivals.mu held.
func (in *inbox) reserve(n int) []byte {
	size := wire.MessageCost(n)
	last := in.chunks.back()
	if last == nil || cap(*last)-len(*last) < size {
		in.chunks.push(in.store.get())
		last = in.chunks.back()
	}
	in.open = true
	at := len(*last) + recordHead
	return (*last)[at : at+n : at+n]
}

// commit makes the reserved message visible.
func (in *inbox) commit(n int) {
	last := in.chunks.back()
	at := len(*last)
	*last = (*last)[:at+wire.MessageCost(n)]
	binary.LittleEndian.PutUint64((*last)[at:], uint64(n))
	in.open = false
}

// next delivers a message, which stays until free.
func (in *inbox) next() ([]byte, bool) {
	if in.empty() {
		return nil, false
	}
	if in.read == len(*in.chunks.front()) {
		in.spent.push(in.chunks.pop())
		in.read = 0
	}
	chunk := *in.chunks.front()
	n := int(binary.LittleEndian.Uint64(chunk[in.read:]))
	at := in.read + recordHead
	in.read += wire.MessageCost(n)
	in.lentBy += wire.MessageCost(n)
	return chunk[at : at+n : at+n], true
}

// give gives credit back. It is Poll's.
func (in *inbox) give(cost int) { relax.Store(&in.taken, in.taken.Load()+uint64(cost)) }

// free takes back what next has delivered.
func (in *inbox) free() {
	for in.spent.count > 0 {
		in.store.put(in.spent.pop())
	}
	if in.empty() && in.chunks.count == 1 && !in.open {
		in.store.put(in.chunks.pop())
		in.read = 0
	}
	in.give(in.lentBy)
	in.lentBy = 0
}
