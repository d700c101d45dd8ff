//go:build cgo && linux

package verbs

// A workID is what a work request is known by when it has ended: whose it is, and the
// last 32 bits of its number there.
type workID uint64

type workKind uint8

const (
	ofOrigin  workKind = iota + 1 // a request of a connection from this rank
	ofTarget                      // a request of a connection to this rank
	ofMessage                     // a buffer of the shared receive queue was filled
	ofCredit                      // a connection from this rank has got credit
)

// The 24 bits in the middle number the connection, in the endpoint's list.
const maxConnections = 1 << 24

func newWorkID(kind workKind, connection int, number uint64) workID {
	return workID(uint64(kind)<<56 | uint64(connection)<<32 | number&(1<<32-1))
}

func (id workID) kind() workKind  { return workKind(id >> 56) }
func (id workID) connection() int { return int(id >> 32 & (maxConnections - 1)) }
func (id workID) number() uint32  { return uint32(id) }

// work is a work request that has ended.
type work struct {
	id        workID
	status    int    // 0: it has done what it should
	bytes     int    // received
	immediate uint32 // received with it
	pair      uint32 // number of the queue pair
	vendor    uint32
}

const (
	statusFlushed = 5  // the queue pair had failed before
	statusRetried = 12 // no answer
)

type opcode uint8

const (
	opWrite opcode = iota
	opRead
	opAdd
	opSwap
	opSend
	opCredit
)

// A request is one work request for a send queue.
type request struct {
	opcode        opcode
	signalled     bool // its end is reported
	inlined       bool // its bytes travel in the request
	remote        uint64
	rkey          uint32
	operand, swap uint64 // of atomics: what is added, or expected and stored
	immediate     uint32
}
