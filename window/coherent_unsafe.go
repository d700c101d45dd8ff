package window

import (
	"errors"
	"unsafe"

	"github.com/golaunch/golaunch/window/element"
	"github.com/golaunch/golaunch/window/packet"
	"github.com/golaunch/golaunch/window/pager"
)

// Operations on coherent windows. All parts are memory of this process, in which pages
// may be absent: an access that finds none waits in the kernel, with its thread and its P.
// So the operations ask for the pages first, and wait as goroutines; a page that is taken
// away again before the access comes makes that wait after all.
//
// Addresses of elements are right because reach has checked that they lie in the part, and
// the mapping holds every part until Free.

// atOnce is how many of n elements from disp on are held at a time: under a cache limit, more
// than that would evict each other. What is moved to or from the window itself is moved
// together, because it may overlap: if need be, the copy waits for each page.
func (co *coherent) atOnce(disp, n int, other unsafe.Pointer) int {
	if n == 1 || co.most == 0 || co.isMapped(other) {
		return n
	}
	return min(n, co.most-disp%co.most)
}

func (co *coherent) isMapped(p unsafe.Pointer) bool {
	memory := co.view.Memory
	return uintptr(p)-uintptr(unsafe.Pointer(&memory[0])) < uintptr(len(memory))
}

// hold returns where n elements at disp of a target are, when they may be read or written;
// nil and why if they may not.
func (co *coherent) hold(c *core, target, disp, n int, write bool) (unsafe.Pointer, error) {
	from := target*co.stride + disp*c.kind.Size
	to := from + n*c.kind.Size
	if !co.view.Has(from, to, write) {
		mode := pager.Read
		if write {
			mode = pager.Write
		}
		if err := co.view.Want(from, to, mode); err != nil {
			return nil, err
		}
	}
	return unsafe.Add(c.parts[target].base, disp*c.kind.Size), nil
}

func (c *core) getCoherent(target, disp int, to unsafe.Pointer, n int) error {
	if !c.allows(target, disp, n) {
		return c.refuse("Get", target, disp, n)
	}
	if c.coherent.view.Unmapped != nil {
		return c.failed("Get", target, disp, n, c.getCarried(target, disp, to, n))
	}
	for done := 0; done < n; {
		length := c.coherent.atOnce(disp+done, n-done, to)
		from, err := c.coherent.hold(c, target, disp+done, length, false)
		if err != nil {
			return c.failed("Get", target, disp, n, err)
		}
		moveBytes(unsafe.Add(to, done*c.kind.Size), from, length*c.kind.Size)
		done += length
	}
	return nil
}

// putCoherent ends in a full fence, so that what this rank does next is behind the Put
// for everybody: windows are sequentially consistent.
func (c *core) putCoherent(target, disp int, from unsafe.Pointer, n int) error {
	if !c.allows(target, disp, n) {
		return c.refuse("Put", target, disp, n)
	}
	if c.coherent.view.Unmapped != nil {
		return c.failed("Put", target, disp, n, c.putCarried(target, disp, from, n))
	}
	for done := 0; done < n; {
		length := c.coherent.atOnce(disp+done, n-done, from)
		to, err := c.coherent.hold(c, target, disp+done, length, true)
		if err != nil {
			return c.failed("Put", target, disp, n, err)
		}
		moveBytes(to, unsafe.Add(from, done*c.kind.Size), length*c.kind.Size)
		done += length
	}
	fullFence()
	return nil
}

// moveBytes copies; elements of a word's size in one access, which copy does not promise.
func moveBytes(to, from unsafe.Pointer, n int) {
	switch n {
	case 8:
		*(*uint64)(to) = *(*uint64)(from)
	case 4:
		*(*uint32)(to) = *(*uint32)(from)
	default:
		copy(unsafe.Slice((*byte)(to), n), unsafe.Slice((*byte)(from), n))
	}
}

// Atomic operations are the CPU's or, for kinds that have no instruction, done under the
// target's latches. Each is begun and ended for elements under one latch.

// beginChange returns where n elements at disp of a target are, which this rank may change
// until endChange.
func (c *core) beginChange(target, disp, n int) (at unsafe.Pointer, err error) {
	if c.kind.Width == element.Ranged {
		if err := c.enterLatch(target, disp); err != nil {
			return nil, err
		}
	}
	at, err = c.coherent.hold(c, target, disp, n, true)
	if err != nil && c.kind.Width == element.Ranged {
		err = errors.Join(err, c.leaveLatch(target, disp))
	}
	return at, err
}

// endChange makes the change visible before whatever follows.
func (c *core) endChange(target, disp int) error {
	fullFence()
	if c.kind.Width == element.Ranged {
		return c.leaveLatch(target, disp)
	}
	return nil
}

// enterLatch enters the latch over the range of an element, where its target keeps it.
func (c *core) enterLatch(target, disp int) error {
	if r := c.parts[target].remote; r != nil {
		return c.request(r, packet.Packet{Kind: packet.Enter, Disp: uint64(disp)}, nil)
	}
	return c.latches[target].Enter(rangeOf(disp))
}

func (c *core) leaveLatch(target, disp int) error {
	if r := c.parts[target].remote; r != nil {
		return c.tell(r, &packet.Packet{Kind: packet.Leave, Disp: uint64(disp)})
	}
	c.leaveRange(target, disp)
	return nil
}

func (c *core) accumulateCoherent(target, disp int, from unsafe.Pointer, n int, op Op) error {
	if !c.allows(target, disp, n) {
		return c.refuse("Accumulate", target, disp, n)
	}
	if c.coherent.view.Unmapped != nil {
		return c.failed("Accumulate", target, disp, n, c.accumulateCarried(target, disp, from, n, op))
	}
	for done := 0; done < n; {
		length := c.coherent.atOnce(disp+done, n-done, from)
		if c.kind.Width == element.Ranged {
			length = min(length, rangeLength-(disp+done)%rangeLength)
		}
		at, err := c.beginChange(target, disp+done, length)
		if err == nil {
			src := unsafe.Add(from, done*c.kind.Size)
			if c.kind.Width == element.Ranged {
				c.kind.Update(nil, at, src, length, op)
			} else {
				c.kind.Accumulate(at, src, length, op)
			}
			err = c.endChange(target, disp+done)
		}
		if err != nil {
			return c.failed("Accumulate", target, disp, n, err)
		}
		done += length
	}
	return nil
}

func (c *core) fetchCoherent(name string, target, disp int, old, from unsafe.Pointer, op Op) error {
	if !c.allows(target, disp, 1) {
		return c.refuse(name, target, disp, 1)
	}
	if c.coherent.view.Unmapped != nil {
		return c.failed(name, target, disp, 1, c.fetchCarried(target, disp, old, from, op))
	}
	at, err := c.beginChange(target, disp, 1)
	if err == nil {
		c.fetchAt(at, old, from, op)
		err = c.endChange(target, disp)
	}
	return c.failed(name, target, disp, 1, err)
}

// fetchAt and swapThere do it to the element at an address.
func (c *core) fetchAt(at, old, from unsafe.Pointer, op Op) {
	if c.kind.Width == element.Ranged {
		c.kind.Update(old, at, from, 1, op)
	} else {
		store(old, c.kind.Fetch(at, load(from, c.kind.Size), op), c.kind.Size)
	}
}

func (c *core) swapThere(at, old, expect, replacement unsafe.Pointer) {
	if size := c.kind.Size; c.kind.Width == element.Ranged {
		c.kind.Swap(old, at, expect, replacement)
	} else {
		store(old, c.kind.CompareAndSwap(at, load(expect, size), load(replacement, size)), size)
	}
}

func (c *core) swapCoherent(target, disp int, old, expect, replacement unsafe.Pointer) error {
	const name = "CompareAndSwap"
	if !c.allows(target, disp, 1) {
		return c.refuse(name, target, disp, 1)
	}
	if c.coherent.view.Unmapped != nil {
		return c.failed(name, target, disp, 1, c.swapCarried(target, disp, old, expect, replacement))
	}
	at, err := c.beginChange(target, disp, 1)
	if err == nil {
		c.swapThere(at, old, expect, replacement)
		err = c.endChange(target, disp)
	}
	return c.failed(name, target, disp, 1, err)
}

// load and store convert elements of at most 8 bytes to their bits and back.
func load(from unsafe.Pointer, size int) (b uint64) {
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&b)), 8), unsafe.Slice((*byte)(from), size))
	return b
}

func store(to unsafe.Pointer, b uint64, size int) {
	copy(unsafe.Slice((*byte)(to), size), unsafe.Slice((*byte)(unsafe.Pointer(&b)), 8))
}
