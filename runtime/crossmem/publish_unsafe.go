package crossmem

import (
	"runtime"
	"unsafe"
)

// An Address is where memory lies in the process that published it. It is a
// number: holding it keeps nothing alive.
type Address uint64

// Plus is the address n bytes on.
func (a Address) Plus(n int) Address { return a + Address(n) }

// A Publication is memory of this process whose address others may use. The zero
// value publishes nothing and may be used again and again.
type Publication struct {
	pins   runtime.Pinner
	memory *byte
}

// Publish returns the address of b, which is valid until Withdraw.
//
// The pointer becomes part of *p and of the pinner, which the compiler cannot see
// the end of: it is for b to lie on the heap, or in memory that is not Go's, from
// the moment it is made. Pin does nothing for memory that is not Go's.
func (p *Publication) Publish(b []byte) Address {
	p.Withdraw()
	p.memory = unsafe.SliceData(b)
	if p.memory == nil {
		return 0
	}
	p.pins.Pin(p.memory)
	return Address(uintptr(unsafe.Pointer(p.memory)))
}

// Withdraw ends the publication. No peer uses the address any more.
func (p *Publication) Withdraw() {
	if p.memory == nil {
		return
	}
	p.memory = nil
	p.pins.Unpin()
}
