//go:build amd64 && cgo && linux

package cstack

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Bytes is how much stack a function has. The C library's own resolver of symbols, which
// the first call of a function may go through, needs some 10 KiB with AVX-512 and AMX.
const Bytes = 64 << 10

// A Stack is used by one call at a time: who calls holds a lock for it.
type Stack struct {
	mem []byte // with a page below that cannot be used
	top unsafe.Pointer
}

// New maps a stack.
func New() (*Stack, error) {
	page := unix.Getpagesize()
	mem, err := unix.Mmap(-1, 0, page+Bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_STACK)
	if err == nil {
		err = unix.Mprotect(mem[:page], unix.PROT_NONE)
	}
	if err != nil {
		return nil, fmt.Errorf("a stack of %d bytes: %w", Bytes, err)
	}
	return &Stack{mem: mem, top: unsafe.Pointer(unsafe.SliceData(mem[len(mem)-64:]))}, nil
}

// Call calls a C function of three arguments that returns an int, and returns that. ok
// is false where this is not done: the function was not called.
//
// Precondition: function does what the package's documentation asks, and nobody else
// is on the stack.
func (s *Stack) Call(function, a, b unsafe.Pointer, c uintptr) (result int32, ok bool) {
	return call(function, s.top, a, b, c), true
}

// Close unmaps the stack. There are no calls later.
func (s *Stack) Close() error { return unix.Munmap(s.mem) }

// call calls a C function on the stack that ends at top.
//
//go:noescape
func call(function, top, a, b unsafe.Pointer, c uintptr) int32
