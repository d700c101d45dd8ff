package messages

import (
	"sync/atomic"
	"unsafe"

	"github.com/golaunch/golaunch/runtime/rendezvous"
)

// A stage is memory in the sender's arena through which one message passes.
//
//	0    filled: how many bytes are there    sender
//	64   taken: the receiver has let go      receiver; the sender before it announces
//	128  the bytes                           sender
type stage struct {
	filled *atomic.Uint64
	taken  *atomic.Uint32
	bytes  []byte
	place  rendezvous.Place // at the sender
	to     int              // the rank whose message is in it
	id     uint64           // of that message
}

const (
	stageHead = 128
	stageSize = stageHead + stageBytes
)

// stageOver lays a stage over mem: longer than a head, aligned, as arenas are, and
// mapped until the rank leaves. Both sides use the two words atomically, from their
// own lines: what the sender has stored in bytes before it stores filled is there for
// who loads that, and the receiver's loads from bytes come before it stores taken.
func stageOver(mem []byte, place rendezvous.Place) *stage {
	return &stage{filled: (*atomic.Uint64)(unsafe.Pointer(&mem[0])), taken: (*atomic.Uint32)(unsafe.Pointer(&mem[64])), bytes: mem[stageHead:], place: place}
}
