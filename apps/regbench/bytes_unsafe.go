package main

import "unsafe"

// asBytes views elements of the arena as the bytes that they are: memory outside the
// Go heap, as long as the elements are.
func asBytes(floats []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(floats))), len(floats)*word)
}
