package element

import (
	"reflect"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// cell is memory for elements, aligned as a window's part is.
type cell [128]byte

func (c *cell) at(i, size int) unsafe.Pointer { return unsafe.Pointer(&c[i*size]) }

func newCell() *cell { return (*cell)(unsafe.Pointer(&make([]complex128, 8)[0])) }

// mapped is a cell that the race detector does not watch.
func mapped(t *testing.T) *cell {
	t.Helper()
	mem, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(mem) })
	return (*cell)(unsafe.Pointer(&mem[0]))
}

func bitsOf[T any](v T) (bits uint64) {
	*(*T)(unsafe.Pointer(&bits)) = v
	return bits
}

func fromBits[T any](bits uint64) T { return *(*T)(unsafe.Pointer(&bits)) }

func kindOf[T any](t testing.TB) Kind {
	t.Helper()
	k, err := Of(reflect.TypeFor[T]())
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// fetch runs one operation on element i of a fresh cell, through the path that the
// kind has, and returns what was fetched and what is there afterwards.
func fetch[T any](k *Kind, i int, target, origin T, op Op) (old, now T) {
	c := newCell()
	p := c.at(i, k.Size)
	*(*T)(p) = target
	if k.Width == Ranged {
		k.Update(unsafe.Pointer(&old), p, unsafe.Pointer(&origin), 1, op)
	} else {
		old = fromBits[T](k.Fetch(p, bitsOf(origin), op))
	}
	return old, *(*T)(p)
}

// accumulate runs one operation on n elements.
func accumulate[T any](k *Kind, target, origin []T, op Op) []T {
	c := newCell()
	to := unsafe.Slice((*T)(c.at(0, k.Size)), len(target))
	copy(to, target)
	if k.Width == Ranged {
		k.Update(nil, unsafe.Pointer(&to[0]), unsafe.Pointer(&origin[0]), len(to), op)
	} else {
		k.Accumulate(unsafe.Pointer(&to[0]), unsafe.Pointer(&origin[0]), len(to), op)
	}
	return to
}

// swap runs one CompareAndSwap on element i of a fresh cell.
func swap[T any](k *Kind, i int, target, expect, replacement T) (old, now T) {
	c := newCell()
	p := c.at(i, k.Size)
	*(*T)(p) = target
	if k.Width == Ranged {
		k.Swap(unsafe.Pointer(&old), p, unsafe.Pointer(&expect), unsafe.Pointer(&replacement))
	} else {
		old = fromBits[T](k.CompareAndSwap(p, bitsOf(expect), bitsOf(replacement)))
	}
	return old, *(*T)(p)
}
