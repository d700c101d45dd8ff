package arena_test

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// remap maps other pages where mem is. The range is never free in between, so nothing
// else can come to lie there, and the slice stays valid.
func remap(t *testing.T, mem []byte) {
	t.Helper()
	at := unsafe.Pointer(unsafe.SliceData(mem))
	_, err := unix.MmapPtr(-1, 0, at, uintptr(len(mem)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON|unix.MAP_FIXED)
	no(t, err)
}
