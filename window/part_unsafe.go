package window

import "unsafe"

// A part is one target's memory as this process reaches it. It is all that an operation
// on mapped memory looks at. It is 32 bytes long, so an index is a shift.
//
// Invariant: remote is not nil exactly if the memory is on another host; then base is nil
// and count -1, so that limit is always -1 and every quick check fails.
type part struct {
	base unsafe.Pointer // element 0, aligned to 128 bytes
	// limit is count while an access epoch to the target is open, and -1 otherwise: so
	// the bounds check is also the check for the epoch.
	limit  int
	count  int
	remote *remote
}

// newPart is a part of count elements at the beginning of mem.
func newPart(mem []byte, count int) part {
	return part{base: unsafe.Pointer(unsafe.SliceData(mem)), limit: -1, count: count}
}

// newRemotePart is a part that r stands for.
func newRemotePart(r *remote) part { return part{limit: -1, count: -1, remote: r} }

func (p *part) open()  { p.limit = p.count }
func (p *part) close() { p.limit = -1 }

// elements are those of a part. It is right because Allocate has mapped count
// elements of type T at base, which stay mapped until the rank leaves.
func elements[T any](p *part) []T { return unsafe.Slice((*T)(p.base), p.count) }

// at is element i's address. The caller has checked that 0 <= i < limit, or that
// nothing is accessed there.
func at[T any](p *part, i int) unsafe.Pointer {
	var element T
	return unsafe.Add(p.base, i*int(unsafe.Sizeof(element)))
}
