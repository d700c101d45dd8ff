package element

import (
	"bytes"
	"unsafe"
)

// What follows is for Ranged kinds. The caller holds the lock over the elements.

// Update sets each of n elements at target to itself op the one at origin, and stores
// what it was at old, if that is not nil. op is valid for the kind.
func (k *Kind) Update(old, target, origin unsafe.Pointer, n int, op Op) {
	to, from := k.bytes(target, n), k.bytes(origin, n)
	if old != nil {
		copy(k.bytes(old, n), to)
	}
	switch op {
	case NoOp:
	case Replace:
		copy(to, from)
	default: // complex128 is the only number among them
		a, b := unsafe.Slice((*complex128)(target), n), unsafe.Slice((*complex128)(origin), n)
		for i := range a {
			a[i] = applyComplex(op, a[i], b[i])
		}
	}
}

// Swap is CompareAndSwap: it stores what the element was at old.
func (k *Kind) Swap(old, target, expect, replacement unsafe.Pointer) {
	to := k.bytes(target, 1)
	copy(k.bytes(old, 1), to)
	if bytes.Equal(to, k.bytes(expect, 1)) {
		copy(to, k.bytes(replacement, 1))
	}
}

func (k *Kind) bytes(p unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(p), n*k.Size) }
