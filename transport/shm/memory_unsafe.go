package shm

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

const wordBytes = 8

// A memory is a piece of shared memory seen as bytes and as atomic words.
//
// Invariant: words covers bytes as far as whole words go, and both alias the
// same mapping.
type memory struct {
	bytes []byte
	words []atomic.Uint64
}

// overlay lays words over b, which must begin at a word boundary.
func overlay(b []byte) (memory, error) {
	start := unsafe.Pointer(unsafe.SliceData(b))
	if uintptr(start)%wordBytes != 0 {
		return memory{}, fmt.Errorf("shared memory at %p is not aligned to %d bytes", start, wordBytes)
	}
	return memory{bytes: b, words: unsafe.Slice((*atomic.Uint64)(start), len(b)/wordBytes)}, nil
}

// wordAt returns the 8 bytes at the beginning of b as an atomic word; nil when
// they are not aligned.
//
// Precondition: len(b) >= 8.
func wordAt(b []byte) *atomic.Uint64 {
	b = b[:wordBytes]
	start := unsafe.Pointer(unsafe.SliceData(b))
	if uintptr(start)%wordBytes != 0 {
		return nil
	}
	return (*atomic.Uint64)(start)
}
