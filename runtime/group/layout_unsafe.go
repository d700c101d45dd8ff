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
//	done      one word, on the next cache line: the last round that is over on this
//	          host, if members are on other hosts
//	notices   one word a member, for whatever its owner wants others to find
//	reasons   of each member, why it broke the group (512 bytes)
//	lines     parity 0 of member 0, 1, ..., then parity 1
//	bulk      likewise
//
// A slot is a line and a bulk. The line has the head, the payload's length and, if
// there is room, the payload, so that one transfer brings all of a small one, and
// the lines of many members lie together: they take one or two entries of the TLB,
// where ranks that take turns on a core begin with an empty one. A longer payload
// is in the bulk.
const (
	reasonsSize = 512
	lineSize    = 128
	arrivalsAt  = lineSize
	retiredAt   = arrivalsAt + lineSize
	doneAt      = retiredAt + lineSize/2
	noticesAt   = retiredAt + lineSize
	headSize    = 16 // head and length
	lineRoom    = lineSize - headSize

	// MaxPayload is the longest payload of Publish in bytes.
	MaxPayload = 4096
)

// Size is how many bytes of zeroed shared memory a group of n members needs.
func Size(n int) int { return bulkAt(n) + 2*n*MaxPayload }

func bulkAt(n int) int { return linesAt(n) + 2*n*lineSize }

func linesAt(n int) int { return reasonsAt(n) + n*reasonsSize }

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
	index := parity*n + member
	line := area[linesAt(n)+index*lineSize:][:lineSize:lineSize]
	return slot{
		head:   (*atomic.Uint64)(unsafe.Pointer(&line[0])),
		length: (*uint64)(unsafe.Pointer(&line[8])),
		line:   line[headSize:],
		bulk:   area[bulkAt(n)+index*MaxPayload:][:MaxPayload:MaxPayload],
	}
}

// A slot is where one member publishes in every other round. Everything but the
// head is plain memory: its owner writes it before it stores the head, and others
// read it after they have loaded that.
type slot struct {
	head       *atomic.Uint64
	length     *uint64
	line, bulk []byte
}

// put stores a payload.
func (s *slot) put(payload []byte) {
	*s.length = uint64(len(payload))
	switch {
	case len(payload) == 0:
	case len(payload) <= lineRoom:
		copy(s.line, payload)
	default:
		copy(s.bulk, payload)
	}
}

// putPart stores a part of a payload that has total bytes.
func (s *slot) putPart(total, offset int, bytes []byte) {
	if total <= lineRoom {
		copy(s.line[offset:], bytes)
	} else {
		copy(s.bulk[offset:], bytes)
	}
}

// payload is what put has stored.
func (s *slot) payload() []byte {
	n := min(*s.length, MaxPayload) // it comes from shared memory
	if n <= lineRoom {
		return s.line[:n:n]
	}
	return s.bulk[:n:n]
}

func aligned(area []byte) bool {
	return uintptr(unsafe.Pointer(unsafe.SliceData(area)))%lineSize == 0
}
