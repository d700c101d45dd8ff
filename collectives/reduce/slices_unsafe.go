package reduce

import "unsafe"

// Slices sets dst[i] = a[i] op b[i]; see Into, whose preconditions are counted in elements here.
func Slices[T Number](op Op, dst, a, b []T) {
	Into(KindOf[T](), op, bytesOf(dst), bytesOf(a), bytesOf(b))
}

// bytesOf views a slice of numbers as the bytes it is made of.
func bytesOf[T Number](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

// elements views n bytes as the whole numbers of type T in them. Precondition: p is aligned for T.
func elements[T Number](p *byte, n int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(p)), n/int(unsafe.Sizeof(*new(T))))
}

// first is the address of the first byte, also of a slice that has none.
func first(p []byte) *byte { return unsafe.SliceData(p) }
