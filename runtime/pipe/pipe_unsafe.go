// Package pipe is a bounded stream of bytes in shared memory, from one writer to
// one reader. The engine of the collectives moves through it what is too large
// for a group's slots and not in arena memory.
//
// # Protocol and memory ordering
//
// Two counters, written and taken, only grow; written-taken bytes are in the
// pipe, at most Capacity. Each counter has one writer and a pair of cache lines of
// its own. The writer stores bytes and then written, atomically; the reader loads
// written atomically and then the bytes: what it sees counted is there. The reader
// stores taken after its last load of those bytes, and the writer loads taken
// before it overwrites them.
//
// Each side keeps its own copy of the other's counter and looks again only when
// the copy does not suffice.
//
// # Goroutine safety
//
// A Writer and a Reader each belong to one goroutine at a time.
package pipe

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

const (
	lineSize = 128
	dataAt   = 2 * lineSize

	// Capacity is how many bytes a pipe holds: enough to keep both sides busy, and
	// to stay in the second-level cache together with what is copied.
	Capacity = 128 << 10

	// Size is how many bytes of zeroed shared memory a pipe needs.
	Size = dataAt + Capacity

	// Align is what Pad rounds up to. Capacity is a multiple of it.
	Align = 64
)

// end is what both sides have. The conversions in open are right because the
// length and the alignment are checked there and the owner of mem keeps it mapped
// while the pipe is used.
type end struct {
	written, taken *atomic.Uint64
	data           []byte
}

func open(mem []byte) (end, error) {
	if len(mem) < Size || uintptr(unsafe.Pointer(unsafe.SliceData(mem)))%8 != 0 {
		return end{}, fmt.Errorf("pipe: %d bytes of shared memory, want %d, aligned to 8", len(mem), Size)
	}
	return end{
		written: (*atomic.Uint64)(unsafe.Pointer(&mem[0])),
		taken:   (*atomic.Uint64)(unsafe.Pointer(&mem[lineSize])),
		data:    mem[dataAt:Size:Size],
	}, nil
}
