package window

import (
	"testing"
	"unsafe"
)

var sink []byte

// What is on the stack is copied, what is not is left where it is, and neither makes
// the caller allocate.
func TestStable(t *testing.T) {
	heap := make([]byte, 100)
	sink = heap
	mem, copied := stable(unsafe.Pointer(&heap[0]), 100)
	if copied || unsafe.SliceData(mem) != unsafe.SliceData(heap) {
		t.Error("memory of the heap was copied")
	}
	var local [100]byte
	local[7] = 7
	mem, copied = stable(unsafe.Pointer(&local), 100)
	if !copied || mem[7] != 7 {
		t.Errorf("memory of the stack was not copied: %v", mem)
	}
	grown(t, 200, &local)
	if n := testing.AllocsPerRun(100, func() {
		var local [8]byte
		if q, onStack := settle(unsafe.Pointer(&local)); !onStack || q != unsafe.Pointer(&local) {
			t.Error("settle is wrong")
		}
	}); n != 0 {
		t.Errorf("a variable escapes: %v allocations", n)
	}
}

// grown looks again when the stack has moved.
func grown(t *testing.T, depth int, p *[100]byte) (sum byte) {
	var frame [1000]byte
	if depth > 0 {
		frame[depth] = grown(t, depth-1, p)
		return frame[depth]
	}
	if mem, copied := stable(unsafe.Pointer(p), 100); !copied || mem[7] != 7 {
		t.Error("after the stack has grown it is not known any more")
	}
	return frame[p[7]]
}
