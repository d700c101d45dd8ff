package arena

import "reflect"

// Alloc returns n zeroed elements that peers can reach, aligned to 64 bytes, from
// a page on to the page, and from 2 MiB on to 2 MiB of their segment where that
// costs at most an eighth. The slice's capacity is n.
//
// T must hold no pointers (ErrElement). n must not be negative and the memory must
// fit into an address space (ErrSize). More memory than there is, as
// Config.Reserve sees it, is an error that names the limit. No elements, or
// elements of no size, take no memory; Free takes such slices too.
//
// Reuse costs no system call and allocates nothing, except that the memory must
// be zeroed.
func Alloc[T any](a *Arena, n int) ([]T, error) {
	t := reflect.TypeFor[T]()
	if err := a.checkElement(t); err != nil {
		return nil, err
	}
	size := int64(t.Size())
	if n < 0 || size > 0 && int64(n) > maxBytes/size {
		return nil, a.errorf("allocating %d elements of type %s, %d bytes each: %w", n, t, size, ErrSize)
	}
	if size*int64(n) == 0 {
		return make([]T, n), nil
	}
	mem, err := a.alloc(size * int64(n))
	if err != nil {
		return nil, a.errorf("allocating %d elements of type %s: %w", n, t, err)
	}
	return elements[T](mem, n), nil
}

// Free gives memory back. s is what Alloc returned, or its beginning. Memory that
// is not the arena's is an error wrapping ErrForeign, a slice that begins inside
// an allocation ErrInterior, memory that is free already ErrDoubleFree; nothing
// changes then. A stale slice whose memory was handed out again is not
// recognised: its new owner's memory is freed.
//
// Peers must have been told, and must not touch the memory any more (FreeUnder is
// for when that is not known).
func Free[T any](a *Arena, s []T) error {
	if cap(s) == 0 || reflect.TypeFor[T]().Size() == 0 {
		return nil
	}
	return a.freeAt(start(s), HoldName{})
}

// FreeUnder is Free of memory that peers were given under a hold, before all of
// them are known to be done with it: while the hold is open, the memory is not used
// again. Hold opens it, before.
func FreeUnder[T any](a *Arena, s []T, hold HoldName) error {
	if cap(s) == 0 || reflect.TypeFor[T]().Size() == 0 {
		return nil
	}
	return a.freeAt(start(s), hold)
}

// alloc returns zeroed memory. It is zeroed here, outside all locks: only this
// goroutine knows of it.
func (a *Arena) alloc(bytes int64) ([]byte, error) {
	b, reused, err := a.obtain(a.classes.of(bytes))
	if err != nil {
		return nil, err
	}
	mem := b.bytes()[:bytes]
	if reused {
		clear(mem)
	}
	return mem, nil
}

func (a *Arena) freeAt(addr uintptr, under HoldName) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := a.blocks[addr]
	if b == nil || b.state != inUse {
		return a.refuse(addr, b)
	}
	a.usage.InUse -= b.class.size
	if !a.held.Idle() && a.held.Free(b, under) {
		b.state = quarantined
		a.usage.Quarantined += b.class.size
		return nil
	}
	a.putBack(b)
	return nil
}

// putBack makes a block that nobody uses free. mu is held.
func (a *Arena) putBack(b *block) {
	b.state = free
	b.segment.busy--
	a.usage.Free += b.class.size
	a.free.push(b)
}

// refuse says what is wrong with freeing addr, where b begins if it is not nil.
// mu is held.
func (a *Arena) refuse(addr uintptr, b *block) error {
	if a.closed {
		return a.errorf("freeing: %w", ErrClosed)
	}
	at, ok := a.table.Load().find(addr, 1)
	if !ok {
		return a.errorf("freeing memory at %#x: %w", addr, ErrForeign)
	}
	if b != nil {
		return a.errorf("freeing %d bytes at offset %d of segment %d: %w", b.class.size, at.Offset, at.Key, ErrDoubleFree)
	}
	if b = a.around(at); b == nil {
		return a.errorf("freeing memory at offset %d of segment %d: %w", at.Offset, at.Key, ErrForeign)
	}
	return a.errorf("freeing memory %d bytes after the start of %d bytes at offset %d of segment %d: %w",
		at.Offset-b.offset, b.class.size, b.offset, at.Key, ErrInterior)
}

// around returns the block that contains a place, nil if none does. It looks at
// every block: it only serves errors.
func (a *Arena) around(at Extent) *block {
	for _, b := range a.blocks {
		if b.segment.key == at.Key && b.offset <= at.Offset && at.Offset < b.offset+b.class.size {
			return b
		}
	}
	return nil
}
