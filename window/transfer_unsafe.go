package window

import (
	"sync/atomic"
	"unsafe"

	"github.com/golaunch/golaunch/runtime/copying"
)

// Put stores src at the elements disp, disp+1, ... of target's part (MPI_Put). When it
// returns, src may be reused. Others see the elements after the epoch or a Flush, and
// what synchronises them with that; see docs/windows.md. If the part is on another host,
// the elements are on their way when it returns.
//
// It is an error, and nothing is stored, if no epoch to target is open or the elements
// exceed its part. src must not overlap the elements, unless the target is this rank.
func (w *Window[T]) Put(target, disp int, src []T) error {
	if uint(target) < uint(len(w.parts)) {
		p := &w.parts[target]
		if disp >= 0 && len(src) <= p.limit-disp {
			if len(src) == 1 {
				*(*T)(at[T](p, disp)) = src[0]
				return nil
			}
			move((*T)(at[T](p, disp)), unsafe.SliceData(src), len(src))
			return nil
		}
	}
	return w.putRemote(target, disp, unsafe.Pointer(unsafe.SliceData(src)), len(src))
}

// Get fetches the elements disp, disp+1, ... of target's part into dst (MPI_Get). They are
// there when it returns, also from another host.
//
// It is an error, and nothing is fetched, if no epoch to target is open or the elements
// exceed its part. dst must not overlap the elements, unless the target is this rank.
func (w *Window[T]) Get(target, disp int, dst []T) error {
	if uint(target) < uint(len(w.parts)) {
		p := &w.parts[target]
		if disp >= 0 && len(dst) <= p.limit-disp {
			if len(dst) == 1 {
				dst[0] = *(*T)(at[T](p, disp))
				return nil
			}
			move(unsafe.SliceData(dst), (*T)(at[T](p, disp)), len(dst))
			return nil
		}
	}
	return w.getRemote(target, disp, unsafe.Pointer(unsafe.SliceData(dst)), len(dst))
}

// large is from when on copying.Copy may do better than copy, in bytes.
const large = 1 << 20

// move copies n elements. It is right because the caller has checked that n elements are
// at both places.
//
// A single element is not brought here: its assignment is a call less, and one store for
// types of a word's size.
func move[T any](to, from *T, n int) {
	bytes := uintptr(n) * unsafe.Sizeof(*to)
	if bytes < large {
		copy(unsafe.Slice(to, n), unsafe.Slice(from, n))
		return
	}
	moveLarge(unsafe.Pointer(to), unsafe.Pointer(from), int(bytes))
}

// moveLarge leaves copies that overlap, as a rank's to its own part may, to copy.
//
//go:noinline
func moveLarge(to, from unsafe.Pointer, n int) {
	a, b := uintptr(to), uintptr(from)
	dst, src := unsafe.Slice((*byte)(to), n), unsafe.Slice((*byte)(from), n)
	if a < b+uintptr(n) && b < a+uintptr(n) {
		copy(dst, src)
		return
	}
	copying.Copy(dst, src)
}

// Flush completes every operation that this rank has started on target: its effects
// are visible to every rank before any effect of a later operation of this rank, on
// any target, and before any later operation of this rank takes a value (MPI_Win_flush).
// It is an error if no epoch to target is open.
func (c *core) Flush(target int) error {
	if uint(target) < uint(len(c.parts)) && c.parts[target].limit >= 0 {
		fullFence()
		return nil
	}
	err := c.noTarget(target)
	if err == nil {
		err = c.noEpoch(target)
	}
	if err == nil && c.coherent == nil {
		err = c.complete(c.parts[target].remote)
	}
	if err == nil {
		return nil
	}
	return c.errorf("Flush of target %d: %w", target, err)
}

// FlushAll is Flush of every target to which an epoch is open (MPI_Win_flush_all). It is
// an error if there is none.
func (c *core) FlushAll() error {
	if c.epoch != ended && (c.epoch != passive || c.locked > 0) {
		fullFence()
		return c.flushRemotes()
	}
	err := c.over
	if err == nil {
		err = errNoEpoch
	}
	return c.errorf("FlushAll: %w", err)
}

// flushRemotes is FlushAll of the targets on other hosts.
func (c *core) flushRemotes() error {
	if c.remotes == nil {
		return nil
	}
	if err := c.completeAll(c.isOpen); err != nil {
		return c.errorf("FlushAll: %w", err)
	}
	return nil
}

// fullFence orders all earlier accesses of this goroutine, plain ones too, before all
// later ones, as every process sees them.
//
// On mapped memory a Put is plain stores, which the CPU may keep in a buffer while
// later loads, a Get's, are already carried out: two ranks that Put, Flush and Get each
// other's element could both miss the other's Put. MPI-4.1 section 12.7 forbids that: the
// flush completes the Put at the target. Of all reorderings only this one is possible
// on amd64, and the locked exchange that an atomic store compiles to drains the buffer.
//
// On arm64 the store is a store-release, before which all earlier accesses are observed,
// and the load is a load-acquire, after which all later ones happen; a load-acquire is not
// carried out before an earlier store-release is observed.
//
// The word is on the stack, so goroutines that flush at a time do not contend for it.
// The test TestStoreBuffering fails without the fence.
func fullFence() {
	var word uint32
	atomic.StoreUint32(&word, 1)
	atomic.LoadUint32(&word)
}
