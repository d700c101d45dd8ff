package window

import (
	"errors"
	"unsafe"

	"github.com/golaunch/golaunch/window/element"
)

// Operations on a coherent window of a rank that may not watch pages: the pager of its host
// carries them out, one request each. An update is an exchange of the word around the
// element, tried again until nobody was in between; that of an element without such a word
// is done under its latch.
//
// Addresses of elements here are of copies, which are as large as what is done to them.

// at is where an element is in the window, in bytes.
func (co *coherent) at(c *core, target, disp int) int { return target*co.stride + disp*c.kind.Size }

func (c *core) getCarried(target, disp int, to unsafe.Pointer, n int) error {
	return c.coherent.view.Load(c.coherent.at(c, target, disp), unsafe.Slice((*byte)(to), n*c.kind.Size))
}

func (c *core) putCarried(target, disp int, from unsafe.Pointer, n int) error {
	return c.coherent.view.Store(c.coherent.at(c, target, disp), unsafe.Slice((*byte)(from), n*c.kind.Size))
}

// changeCarried has change change a copy of an element, as often as it must.
func (c *core) changeCarried(target, disp int, change func(element unsafe.Pointer)) error {
	if c.kind.Width == element.Ranged {
		return c.changeUnderLatch(target, disp, change)
	}
	at := c.coherent.at(c, target, disp)
	for {
		var was, then uint64
		if err := c.coherent.view.Load(at&^7, unsafe.Slice((*byte)(unsafe.Pointer(&was)), 8)); err != nil {
			return err
		}
		then = was
		change(unsafe.Add(unsafe.Pointer(&then), at&7))
		found, err := c.coherent.view.Swap(at&^7, was, then)
		if err != nil || found == was {
			return err
		}
	}
}

func (c *core) changeUnderLatch(target, disp int, change func(element unsafe.Pointer)) error {
	if err := c.enterLatch(target, disp); err != nil {
		return err
	}
	size := c.kind.Size
	words := make([]uint64, (size+7)/8) // aligned as an element of the window is
	mem := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size)
	at := c.coherent.at(c, target, disp)
	err := c.coherent.view.Load(at, mem)
	if err == nil {
		change(unsafe.Pointer(&words[0]))
		err = c.coherent.view.Store(at, mem)
	}
	return errors.Join(err, c.leaveLatch(target, disp))
}

func (c *core) accumulateCarried(target, disp int, from unsafe.Pointer, n int, op Op) error {
	for i := range n {
		src := unsafe.Add(from, i*c.kind.Size)
		err := c.changeCarried(target, disp+i, func(at unsafe.Pointer) {
			if c.kind.Width == element.Ranged {
				c.kind.Update(nil, at, src, 1, op)
			} else {
				c.kind.Accumulate(at, src, 1, op)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *core) fetchCarried(target, disp int, old, from unsafe.Pointer, op Op) error {
	return c.changeCarried(target, disp, func(at unsafe.Pointer) { c.fetchAt(at, old, from, op) })
}

func (c *core) swapCarried(target, disp int, old, expect, replacement unsafe.Pointer) error {
	return c.changeCarried(target, disp, func(at unsafe.Pointer) { c.swapThere(at, old, expect, replacement) })
}
