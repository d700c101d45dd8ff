//go:build !amd64 || !cgo || !linux

package cstack

import "unsafe"

// A Stack is nothing here.
type Stack struct{}

// New makes one.
func New() (*Stack, error) { return new(Stack), nil }

// Call returns false: the function is to be called by cgo.
func (*Stack) Call(_, _, _ unsafe.Pointer, _ uintptr) (result int32, ok bool) { return 0, false }

// Close does nothing.
func (*Stack) Close() error { return nil }
