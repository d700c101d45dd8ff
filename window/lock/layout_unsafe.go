package lock

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// The layout of a lock's block, n members:
//
//	state          a pair of cache lines of its own: the fast paths touch nothing else
//	latch, ticket  the next pair
//	slot 0 … n-1   a cache line each, because its owner waits on it
const (
	stateAt      = 0
	latchAt      = 128
	ticketWordAt = latchAt + 8
	slotsAt      = 256
	slotSize     = 64
	alignment    = 128
)

// Size is how many bytes of zeroed memory a lock of n members needs. They must be
// aligned to 128 bytes.
func Size(n int) int { return (slotsAt + n*slotSize + alignment - 1) / alignment * alignment }

func checkBlock(block []byte, size int) error {
	if len(block) < size || uintptr(unsafe.Pointer(unsafe.SliceData(block)))%alignment != 0 {
		return fmt.Errorf("%d bytes of shared memory for a lock: want %d, aligned to %d", len(block), size, alignment)
	}
	return nil
}

// wordAt is right because checkBlock has seen that the block is aligned and long enough,
// the owner of the memory keeps it mapped for as long as the Lock is used, and there
// are no Go pointers in it.
func wordAt(block []byte, at int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&block[at]))
}
