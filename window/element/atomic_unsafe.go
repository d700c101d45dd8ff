package element

import (
	"sync/atomic"
	"unsafe"
)

// Preconditions of everything in this file: the addresses are those of whole elements
// of the kind in mapped memory, aligned to their size (a window's part begins at
// a multiple of 128), and for Narrow kinds the aligned word around an element is
// mapped too. Nothing there is a Go pointer.
//
// Elements are passed as their bits. Memory is little-endian on every architecture
// this project is built for.

// Fetch applies op to the element at target and returns what it was. The kind is not
// Ranged, and op is valid for it.
func (k *Kind) Fetch(target unsafe.Pointer, origin uint64, op Op) uint64 {
	switch k.Width {
	case Double:
		return k.fetch64((*uint64)(target), origin, op)
	case Word:
		return k.fetch32((*uint32)(target), uint32(origin), op)
	}
	return k.fetchNarrow(target, origin, op)
}

func (k *Kind) fetch64(p *uint64, origin uint64, op Op) uint64 {
	switch {
	case op == Sum && k.Native:
		return atomic.AddUint64(p, origin) - origin
	case op == Replace:
		return atomic.SwapUint64(p, origin)
	case op == NoOp:
		return atomic.LoadUint64(p)
	}
	for {
		old := atomic.LoadUint64(p)
		if atomic.CompareAndSwapUint64(p, old, k.apply(op, old, origin)) {
			return old
		}
	}
}

func (k *Kind) fetch32(p *uint32, origin uint32, op Op) uint64 {
	switch {
	case op == Sum && k.Native:
		return uint64(atomic.AddUint32(p, origin) - origin)
	case op == Replace:
		return uint64(atomic.SwapUint32(p, origin))
	case op == NoOp:
		return uint64(atomic.LoadUint32(p))
	}
	for {
		old := atomic.LoadUint32(p)
		if atomic.CompareAndSwapUint32(p, old, uint32(k.apply(op, uint64(old), uint64(origin)))) {
			return uint64(old)
		}
	}
}

func (k *Kind) fetchNarrow(target unsafe.Pointer, origin uint64, op Op) uint64 {
	p, shift, mask := k.around(target)
	for {
		word := atomic.LoadUint32(p)
		old := uint64(word >> shift & mask)
		result := origin
		switch op {
		case NoOp:
			return old
		case Replace:
		default:
			result = k.apply(op, old, origin)
		}
		if atomic.CompareAndSwapUint32(p, word, word&^(mask<<shift)|uint32(result)&mask<<shift) {
			return old
		}
	}
}

// around is the aligned word that holds a narrow element, and where in it.
func (k *Kind) around(target unsafe.Pointer) (p *uint32, shift, mask uint32) {
	at := uintptr(target) & 3
	return (*uint32)(unsafe.Add(target, -int(at))), uint32(at) * 8, 1<<(8*k.Size) - 1
}

// CompareAndSwap stores replacement in the element at target if its bits are those
// of expect, and returns what the element was. The kind is not Ranged, and is
// Swappable.
func (k *Kind) CompareAndSwap(target unsafe.Pointer, expect, replacement uint64) uint64 {
	switch k.Width {
	case Double:
		return swap64((*uint64)(target), expect, replacement)
	case Word:
		return swap32((*uint32)(target), uint32(expect), uint32(replacement))
	}
	return k.swapNarrow(target, uint32(expect), uint32(replacement))
}

func swap64(p *uint64, expect, replacement uint64) uint64 {
	for {
		if atomic.CompareAndSwapUint64(p, expect, replacement) {
			return expect
		}
		if old := atomic.LoadUint64(p); old != expect {
			return old
		}
	}
}

func swap32(p *uint32, expect, replacement uint32) uint64 {
	for {
		if atomic.CompareAndSwapUint32(p, expect, replacement) {
			return uint64(expect)
		}
		if old := atomic.LoadUint32(p); old != expect {
			return uint64(old)
		}
	}
}

func (k *Kind) swapNarrow(target unsafe.Pointer, expect, replacement uint32) uint64 {
	p, shift, mask := k.around(target)
	for {
		word := atomic.LoadUint32(p)
		if old := word >> shift & mask; old != expect&mask {
			return uint64(old)
		}
		if atomic.CompareAndSwapUint32(p, word, word&^(mask<<shift)|replacement&mask<<shift) {
			return uint64(expect & mask)
		}
	}
}

// Accumulate applies op to n consecutive elements, each atomically. The kind is not
// Ranged, and op is valid for it.
func (k *Kind) Accumulate(target, origin unsafe.Pointer, n int, op Op) {
	if op == NoOp {
		return
	}
	switch k.Width {
	case Double:
		each(k.fetch64, (*uint64)(target), (*uint64)(origin), n, op)
	case Word:
		each(k.fetch32, (*uint32)(target), (*uint32)(origin), n, op)
	default:
		for i := range n {
			k.fetchNarrow(unsafe.Add(target, i*k.Size), k.narrow(unsafe.Add(origin, i*k.Size)), op)
		}
	}
}

func each[W uint32 | uint64](fetch func(*W, W, Op) uint64, target, origin *W, n int, op Op) {
	to, from := unsafe.Slice(target, n), unsafe.Slice(origin, n)
	for i := range to {
		fetch(&to[i], from[i], op)
	}
}

func (k *Kind) narrow(p unsafe.Pointer) uint64 {
	if k.Size == 1 {
		return uint64(*(*uint8)(p))
	}
	return uint64(*(*uint16)(p))
}
