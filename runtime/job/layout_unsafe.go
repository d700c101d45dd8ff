package job

import (
	"sync/atomic"
	"unsafe"
)

// The layout of the memory, in order:
//
//	header           one page
//	line 0 … size-1  512 bytes each, so that no two ranks share a cache line
//	                 nor a pair of lines that the prefetcher fetches together
//	extra            from the next page on
const (
	pageSize      = 4096
	lineSize      = 512
	magic         = 0x30626f6a_686c6f67 // "golhjob0", little-endian
	layoutVersion = 3

	// MaxAddress is the longest address of SetAddress, in bytes.
	MaxAddress = 380
)

// header describes the memory. Create writes it before any other process can see
// it, and nobody does again. Map checks a copy, once, and uses nothing else.
type header struct {
	magic  uint64
	layout uint32
	size   uint32
	cores  uint32
	hosts  uint32
	extra  uint64

	host    int32 // whose memory this is, or EachItsHost
	sharers uint32
}

// A line is one rank's. Its first cache line is read by every peer after each
// thing it publishes and written only when the rank goes to sleep or is woken;
// the second is written at the rank's rare events; the rest is written once. A
// rank of another host never sleeps here: its first cache line stays zero.
type line struct {
	bell   atomic.Uint32 // the futex word
	asleep atomic.Uint32 // 1 while the rank may be in futex_wait
	_      [56]byte

	fate     atomic.Uint64 // State << 32 | code: one word, so that they belong together
	reserved atomic.Int64  // bytes the rank is about to populate
	host     uint32        // written by Create, checked and copied by Map
	_        [44]byte

	addressLen atomic.Uint32 // 0 until address is complete
	address    [MaxAddress]byte
}

// The conversions below are right because the memory is mapped from a page
// boundary, is long enough for the table (Create makes it so, Map checks it) and
// stays mapped until Close, and because header and line hold no Go pointers.
// Other processes rely on the sizes: these arrays do not compile when they change.
var (
	_ = [1]struct{}{}[unsafe.Sizeof(line{})-lineSize]
	_ = [1]struct{}{}[unsafe.Sizeof(header{})/pageSize]
)

func headerOf(mem []byte) *header { return (*header)(unsafe.Pointer(unsafe.SliceData(mem))) }

func lineOf(mem []byte, rank int) *line {
	return (*line)(unsafe.Pointer(&mem[pageSize+rank*lineSize]))
}

// extraOffset is where the extra bytes begin: a page boundary.
func extraOffset(size int) int {
	return (pageSize + size*lineSize + pageSize - 1) / pageSize * pageSize
}
