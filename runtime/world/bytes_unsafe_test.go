package world_test

import "unsafe"

// asBytes is the words as memory; both lie in the arena and stay.
func asBytes(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}
