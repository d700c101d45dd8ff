//go:build linux

package crossmem

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// vectors describe one piece on both sides: b here, and as many bytes at an
// address there. The address is a number of another process's, never a pointer of
// this one's.
func vectors(b []byte, there Address) (unix.Iovec, unix.RemoteIovec) {
	here := unix.Iovec{Base: unsafe.SliceData(b)}
	here.SetLen(len(b))
	return here, unix.RemoteIovec{Base: uintptr(there), Len: len(b)}
}
