package window

import (
	"bytes"
	"unsafe"
)

// A slice that a program gives to an operation may lie on its goroutine's stack, and it
// may stay there: operations on mapped memory are done with it when they return, and the
// compiler can see that. A transport is not, and not only this goroutine uses what it
// was given: it gets memory that stays where it is, a copy of what is on a stack.
//
// settle (in assembly, for nothing else can tell) says where p points without the
// compiler's knowing: so operations that only might be remote do not make the program's
// slices escape to the heap.

// stable returns the n bytes at p, or a copy of them if they are on this goroutine's
// stack, which moves when it grows.
//
// It is right because only a goroutine itself has pointers to its stack, because
// settle compares p with the stack's bounds in one step, and because what it returns
// is a pointer like p: it keeps an object of the heap alive and moves with a stack.
func stable(p unsafe.Pointer, n int) (mem []byte, copied bool) {
	q, moves := settle(p)
	mem = unsafe.Slice((*byte)(q), n)
	if moves {
		return bytes.Clone(mem), true
	}
	return mem, false
}
