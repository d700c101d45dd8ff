package window

import (
	"sync/atomic"
	"unsafe"

	"github.com/golaunch/golaunch/window/element"
	"github.com/golaunch/golaunch/window/lock"
)

// Op is what an accumulating operation does with the target's element and the
// origin's (MPI-4.1 section 12.3.4).
type Op = element.Op

// The operations, named as MPI's predefined ones. An operation that is not defined
// for the element type is an error and changes nothing.
const (
	Sum     = element.Sum     // numbers; integers wrap around
	Prod    = element.Prod    // numbers; integers wrap around
	Min     = element.Min     // integers and floating-point numbers; NaN if either is
	Max     = element.Max     // integers and floating-point numbers; NaN if either is
	And     = element.And     // integers bit by bit, bool
	Or      = element.Or      // integers bit by bit, bool
	Xor     = element.Xor     // integers bit by bit, bool
	Replace = element.Replace // any type: an atomic Put
	NoOp    = element.NoOp    // any type: with FetchAndOp an atomic Get
)

// Accumulate sets each of the elements disp, disp+1, ... of target's part to itself op
// the element of src (MPI_Accumulate). Each element is updated atomically with respect to
// Accumulate, FetchAdd, FetchAndOp and CompareAndSwap by any rank; all of them together
// are not.
//
// It is an error, and nothing is changed, if no epoch to target is open, the elements
// exceed its part, or op is not defined for the type. Elements of other sizes than 1,
// 2, 4 and 8 bytes are updated under a latch: if a rank died while it held one, the
// error is a *world.RankFailedError, and elements before those may have been changed.
func (w *Window[T]) Accumulate(target, disp int, src []T, op Op) error {
	if err := w.valid(op, false); err != nil {
		return w.errorf("Accumulate to target %d: %w", target, err)
	}
	if uint(target) >= uint(len(w.parts)) || disp < 0 || len(src) > w.parts[target].limit-disp {
		return w.accumulateRemote(target, disp, unsafe.Pointer(unsafe.SliceData(src)), len(src), op)
	}
	if len(src) == 0 {
		return nil
	}
	to, from := at[T](&w.parts[target], disp), unsafe.Pointer(unsafe.SliceData(src))
	if w.kind.Width != element.Ranged {
		w.kind.Accumulate(to, from, len(src), op)
		return nil
	}
	return w.accumulateRanges(target, disp, from, len(src), op)
}

// FetchAdd adds v to element disp of target's part and returns what it was
// (MPI_Fetch_and_op with MPI_SUM). It is atomic as described at Accumulate; for integers
// of 4 and 8 bytes it is one instruction.
func (w *Window[T]) FetchAdd(target, disp int, v T) (T, error) {
	if w.native && uint(target) < uint(len(w.parts)) {
		p := &w.parts[target]
		if disp >= 0 && disp < p.limit {
			return add(at[T](p, disp), v), nil
		}
	}
	return w.fetch("FetchAdd", target, disp, v, Sum)
}

// add is for integers of 4 and 8 bytes: the first branch is chosen by the compiler.
func add[T any](to unsafe.Pointer, v T) (old T) {
	if unsafe.Sizeof(v) == 8 {
		delta := *(*uint64)(unsafe.Pointer(&v))
		*(*uint64)(unsafe.Pointer(&old)) = atomic.AddUint64((*uint64)(to), delta) - delta
	} else {
		delta := *(*uint32)(unsafe.Pointer(&v))
		*(*uint32)(unsafe.Pointer(&old)) = atomic.AddUint32((*uint32)(to), delta) - delta
	}
	return old
}

// FetchAndOp sets element disp of target's part to itself op v and returns what it was
// (MPI_Fetch_and_op). It is atomic, and an error, as described at Accumulate.
func (w *Window[T]) FetchAndOp(target, disp int, v T, op Op) (T, error) {
	return w.fetch("FetchAndOp", target, disp, v, op)
}

func (w *Window[T]) fetch(name string, target, disp int, v T, op Op) (old T, err error) {
	if err := w.valid(op, true); err != nil {
		return old, w.errorf("%s at target %d: %w", name, target, err)
	}
	if w.nics != nil {
		var delta uint64
		if op == Sum {
			delta = bits(v)
		}
		b, err := w.nicFetch(name, target, disp, delta)
		return value[T](b), err
	}
	if uint(target) >= uint(len(w.parts)) || disp < 0 || disp >= w.parts[target].limit {
		return w.fetchElsewhere(name, target, disp, v, op)
	}
	to := at[T](&w.parts[target], disp)
	if w.kind.Width != element.Ranged {
		return value[T](w.kind.Fetch(to, bits(v), op)), nil
	}
	if err := w.enterRange(name, target, disp); err != nil {
		return old, err
	}
	w.kind.Update(unsafe.Pointer(&old), to, unsafe.Pointer(&v), 1, op)
	w.leaveRange(target, disp)
	return old, nil
}

func (w *Window[T]) fetchElsewhere(name string, target, disp int, v T, op Op) (old T, err error) {
	err = w.fetchRemote(name, target, disp, unsafe.Pointer(&old), unsafe.Pointer(&v), op)
	return old, err
}

// CompareAndSwap stores replacement in element disp of target's part if it equals
// expect, and returns what it was (MPI_Compare_and_swap): it was swapped exactly if the
// result is expect. Elements are compared bit by bit: 0.0 and -0.0 differ, a NaN equals
// itself.
//
// It is atomic, and an error, as described at Accumulate; it is also an error for
// types whose values do not determine all of their bytes.
func (w *Window[T]) CompareAndSwap(target, disp int, expect, replacement T) (old T, err error) {
	if err := w.kind.Swappable(); err != nil {
		return old, w.errorf("at target %d: %w", target, err)
	}
	if w.nics != nil {
		b, err := w.nicSwap(target, disp, bits(expect), bits(replacement))
		return value[T](b), err
	}
	if uint(target) >= uint(len(w.parts)) || disp < 0 || disp >= w.parts[target].limit {
		return w.swapElsewhere(target, disp, expect, replacement)
	}
	to := at[T](&w.parts[target], disp)
	if w.kind.Width != element.Ranged {
		return value[T](w.kind.CompareAndSwap(to, bits(expect), bits(replacement))), nil
	}
	if err := w.enterRange("CompareAndSwap", target, disp); err != nil {
		return old, err
	}
	w.kind.Swap(unsafe.Pointer(&old), to, unsafe.Pointer(&expect), unsafe.Pointer(&replacement))
	w.leaveRange(target, disp)
	return old, nil
}

func (w *Window[T]) swapElsewhere(target, disp int, expect, replacement T) (old T, err error) {
	err = w.swapRemote(target, disp, unsafe.Pointer(&old), unsafe.Pointer(&expect), unsafe.Pointer(&replacement))
	return old, err
}

// bits and value convert elements of at most 8 bytes. For wider ones, which never get
// here, they do nothing: their bytes would not fit.
func bits[T any](v T) (b uint64) {
	if unsafe.Sizeof(v) <= unsafe.Sizeof(b) {
		*(*T)(unsafe.Pointer(&b)) = v
	}
	return b
}

func value[T any](b uint64) (v T) {
	if unsafe.Sizeof(v) <= unsafe.Sizeof(b) {
		v = *(*T)(unsafe.Pointer(&b))
	}
	return v
}

// rangeLength is how many elements one latch covers at a time; the latches take turns
// over a part's ranges.
const rangeLength = 64

func rangeOf(disp int) int { return disp / rangeLength % lock.LatchCount }

// enterRange enters the latch of the range in which element disp of target is.
func (c *core) enterRange(op string, target, disp int) error {
	if err := c.latches[target].Enter(rangeOf(disp)); err != nil {
		return c.errorf("%s at target %d: %w", op, target, err)
	}
	return nil
}

func (c *core) leaveRange(target, disp int) { c.latches[target].Leave(rangeOf(disp)) }

// accumulateRanges goes range by range and holds one latch at a time.
func (c *core) accumulateRanges(target, disp int, from unsafe.Pointer, n int, op Op) error {
	base, size := c.parts[target].base, c.kind.Size
	for done := 0; done < n; {
		at := disp + done
		length := min(n-done, rangeLength-at%rangeLength)
		if err := c.enterRange("Accumulate", target, at); err != nil {
			return err
		}
		c.kind.Update(nil, unsafe.Add(base, at*size), unsafe.Add(from, done*size), length, op)
		c.leaveRange(target, at)
		done += length
	}
	return nil
}
