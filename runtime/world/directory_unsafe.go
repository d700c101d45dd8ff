package world

import (
	"sync/atomic"
	"unsafe"
)

// A directory has one word for each member of a communicator.
type directory []atomic.Uint64

// directoryIn is right because mem is arena memory, aligned to 64 bytes, and stays
// mapped until the rank leaves; atomic.Uint64 is 8 bytes without pointers.
func directoryIn(mem []byte) directory {
	return unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(unsafe.SliceData(mem))), len(mem)/8)
}
