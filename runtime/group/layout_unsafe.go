package group

import (
	"sync/atomic"
	"unsafe"
)

// The layout of a group's area, n members:
//
//	broken    one word: 1 + the member that broke it
//	arrivals  one word on a pair of cache lines of its own
//	retired   one word: how many members have made their last access
//	notices   one word a member, for whatever its owner wants others to find
//	reasons   of each member, why it broke the group (512 bytes)
//	slots     member 0 parity 0, member 0 parity 1, member 1 parity 0, ...
//
// A slot is a head of 8 bytes and the payload right behind it, so that a small
// payload shares the head's cache line and one transfer brings both. Its size is
// no power of two: heads a page apart would all fall into one set of the first
// cache.
const (
	reasonsSize = 512
	lineSize    = 128
	arrivalsAt  = lineSize
	retiredAt   = arrivalsAt + lineSize
	noticesAt   = retiredAt + lineSize
	headSize    = 8
	slotSize    = headSize + MaxPayload + lineSize - headSize

	// MaxPayload is the longest payload of Publish in bytes.
	MaxPayload = 4096
)

// Size is how many bytes of zeroed shared memory a group of n members needs.
func Size(n int) int { return slotsAt(n) + 2*n*slotSize }

func slotsAt(n int) int { return reasonsAt(n) + n*reasonsSize }

func reasonsAt(n int) int { return noticesAt + (n*8+lineSize-1)/lineSize*lineSize }

// reasons are written by their member before it names itself in the word broken.
type reasons struct {
	failed int32 // 1 + the rank whose failure was the cause, or 0
	op     [48]byte
	cause  [448]byte
}

var _ = [1]struct{}{}[unsafe.Sizeof(reasons{})/(reasonsSize+1)]

// The conversions are right because New checks the area's length and alignment,
// whoever owns the area keeps it mapped for as long as the Group is used, and
// nothing in it is a Go pointer.

func brokenBy(area []byte) *atomic.Uint64 { return wordAt(area, 0) }

func reasonsOf(area []byte, n, member int) *reasons {
	return (*reasons)(unsafe.Pointer(&area[reasonsAt(n)+member*reasonsSize]))
}

func wordAt(area []byte, at int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&area[at]))
}

func slotOf(area []byte, n, member, parity int) slot {
	at := slotsAt(n) + (2*member+parity)*slotSize
	return slot{
		head:    (*atomic.Uint64)(unsafe.Pointer(&area[at])),
		payload: area[at+headSize : at+headSize+MaxPayload : at+headSize+MaxPayload],
	}
}

// A slot is where one member publishes in every other round.
type slot struct {
	head    *atomic.Uint64
	payload []byte
}

func aligned(area []byte) bool {
	return uintptr(unsafe.Pointer(unsafe.SliceData(area)))%lineSize == 0
}
