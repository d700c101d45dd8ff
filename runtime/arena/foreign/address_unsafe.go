package foreign

import (
	"unsafe"

	"github.com/golaunch/golaunch/runtime/arena/foreign/ranges"
)

// rangeOf is where mem lies. The addresses are compared, never turned back into
// pointers. For memory of the Go heap or a stack they may be out of date at once; such
// memory was not adopted, and lies where nothing adopted does.
func rangeOf(mem []byte) ranges.Range {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(mem)))
	return ranges.Range{Start: start, End: start + uintptr(len(mem))}
}
