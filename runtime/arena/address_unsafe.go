package arena

import "unsafe"

// This file turns mapped bytes into elements and slices into addresses. What
// makes it sound:
//
//   - Mapped memory is not the Go heap's: the collector neither moves nor frees
//     it, so a slice of it stays valid until Close unmaps it, and the memory's
//     owner is told to stop using it before.
//   - T holds no pointers (checkElement), so the collector need not look inside
//     and a peer cannot forge one.
//   - Extents are aligned to 64 bytes, more than any Go type asks for.
//   - An address made here is compared and looked up, never turned back into a
//     pointer. For a slice of the Go heap it may be out of date at once (a stack can
//     move); no such address lies in a segment before or after.

// elements views the first n elements of mem. Precondition: mem is at least that
// long and aligned.
func elements[T any](mem []byte, n int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(mem))), n)
}

// start is where a slice's first element lies.
func start[T any](s []T) uintptr {
	return uintptr(unsafe.Pointer(unsafe.SliceData(s)))
}

// address is start, for memory that was mapped here.
func address(mem []byte) uintptr { return start(mem) }

// bytesOf is a slice's length in bytes.
func bytesOf[T any](s []T) uintptr {
	var zero T
	return uintptr(len(s)) * unsafe.Sizeof(zero)
}
