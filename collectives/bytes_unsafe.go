package collectives

import "unsafe"

// asBytes views a slice as the bytes it is made of. It is right for every type:
// who stores through the view must know that T has no pointers.
func asBytes[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*sizeOf[T]())
}

// sizeOf is the size of an element in bytes.
func sizeOf[T any]() int { return int(unsafe.Sizeof(*new(T))) }

// distance is how many bytes a starts before b. Both have elements.
func distance(a, b []byte) int {
	return int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(a))))
}
