package messages

import (
	"sync/atomic"
	"unsafe"

	"github.com/golaunch/golaunch/runtime/rendezvous"
)

// A word is the shared memory of one rendezvous: its state, and what the two sides
// tell each other beside it. It lies in the sender's arena.
//
//	0    state                                       both
//	8    a card: how to reach the sender's memory    sender, before it announces
//	128  the receiver's offer, 8 words               receiver, before it opens
//	192  a card                                      receiver, before it opens
type word struct {
	state  *atomic.Uint64
	fields *[wordBytes / 8]uint64
	place  rendezvous.Place // at the sender
	total  int              // pieces; known once it was opened
	opened bool             // as far as this side knows
	helps  bool             // this side can copy
}

const (
	wordBytes = 256
	cardAt    = 1
	offerAt   = 16
	offerCard = 24
)

// wordOver lays a word over mem: aligned, as arenas are, long enough, and mapped
// until the rank leaves. The fields are plain: each is written before the state
// says so, and state is stored and loaded atomically.
func wordOver(mem []byte, place rendezvous.Place) *word {
	mem = mem[:wordBytes]
	fields := (*[wordBytes / 8]uint64)(unsafe.Pointer(&mem[0]))
	return &word{state: (*atomic.Uint64)(unsafe.Pointer(&mem[0])), fields: fields, place: place}
}

// aligned reports whether words may lie over mem.
func aligned(mem []byte) bool { return uintptr(unsafe.Pointer(unsafe.SliceData(mem)))%8 == 0 }
