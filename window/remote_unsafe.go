package window

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"unsafe"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/window/element"
	"github.com/golaunch/golaunch/window/packet"
)

// Operations on targets on other hosts. Elements are passed by their addresses; the
// callers vouch for as many elements of the window's kind there as they say. None of
// the addresses outlives the call, so the programs' variables may stay on their stacks.

// putRemote is Put where the memory is not mapped, or there is no such memory.
func (c *core) putRemote(target, disp int, from unsafe.Pointer, n int) error {
	if c.coherent != nil {
		return c.putCoherent(target, disp, from, n)
	}
	r := c.reach(target, disp, n)
	if r == nil {
		return c.refuse("Put", target, disp, n)
	}
	src, _ := stable(from, n*c.kind.Size)
	return c.failed("Put", target, disp, n, c.put(r, disp, src))
}

func (c *core) getRemote(target, disp int, to unsafe.Pointer, n int) error {
	if c.coherent != nil {
		return c.getCoherent(target, disp, to, n)
	}
	r := c.reach(target, disp, n)
	if r == nil {
		return c.refuse("Get", target, disp, n)
	}
	dst, copied := stable(to, n*c.kind.Size)
	err := c.get(r, disp, dst)
	if copied && err == nil {
		copy(unsafe.Slice((*byte)(to), len(dst)), dst)
	}
	return c.failed("Get", target, disp, n, err)
}

func (c *core) put(r *remote, disp int, src []byte) error {
	if len(src) == 0 {
		return nil
	}
	at, conn, err := c.elementsOf(r, disp, len(src))
	if err != nil {
		return err
	}
	if err := conn.Put(at, src, 0); err != nil {
		return c.explain(r.target, err)
	}
	r.puts.note()
	return nil
}

func (c *core) get(r *remote, disp int, dst []byte) error {
	if len(dst) == 0 {
		return nil
	}
	at, conn, err := c.elementsOf(r, disp, len(dst))
	if err != nil {
		return err
	}
	return c.operate(r.target, func(id transport.OpID) error { return conn.Get(dst, at, id) })
}

// elementsOf is where so many bytes of r's elements are, and the connection there, once
// nothing is under way any more that it could overtake.
func (c *core) elementsOf(r *remote, disp, bytes int) (at transport.Remote, conn transport.Conn, err error) {
	if err = c.settleAsked(r); err != nil {
		return at, nil, err
	}
	if at, err = r.elements.Slice(int64(disp*c.kind.Size), int64(bytes)); err != nil {
		return at, nil, err
	}
	conn, err = c.in.Conn(context.Background(), r.target)
	return at, conn, err
}

// A word is what a transport's atomic operation brings. It is not on a stack.
type word struct{ old uint64 }

var words = sync.Pool{New: func() any { return new(word) }}

// operateOnWord is for kinds of 8 bytes: an operation of the transport, which the target
// carries out with the instructions that everybody uses there.
func (c *core) operateOnWord(r *remote, disp int, do func(conn transport.Conn, at transport.Remote, old *uint64, id transport.OpID) error) (uint64, error) {
	at, conn, err := c.elementsOf(r, disp, 8)
	if err != nil {
		return 0, err
	}
	return c.fetchWord(r.target, func(old *uint64, id transport.OpID) error { return do(conn, at, old, id) })
}

// fetchWord carries out an operation of the transport that brings a word.
func (c *core) fetchWord(target int, do func(old *uint64, id transport.OpID) error) (uint64, error) {
	w := words.Get().(*word)
	err := c.operate(target, func(id transport.OpID) error { return do(&w.old, id) })
	if err != nil {
		return 0, err // w is not used again: the operation might be under way
	}
	old := w.old
	words.Put(w)
	return old, nil
}

// fetchRemote sets the element at disp to itself op the one at from, and stores what it
// was at old.
func (c *core) fetchRemote(name string, target, disp int, old, from unsafe.Pointer, op Op) error {
	if c.coherent != nil {
		return c.fetchCoherent(name, target, disp, old, from, op)
	}
	r := c.reach(target, disp, 1)
	if r == nil {
		return c.refuse(name, target, disp, 1)
	}
	return c.failed(name, target, disp, 1, c.fetchFrom(r, disp, old, from, op))
}

func (c *core) fetchFrom(r *remote, disp int, old, from unsafe.Pointer, op Op) (err error) {
	size := c.kind.Size
	switch {
	case c.kind.Width == element.Double && r.cpuAtomics && (op == NoOp || op == Sum && c.kind.Native):
		var delta uint64
		if op == Sum {
			delta = *(*uint64)(from)
		}
		*(*uint64)(old), err = c.operateOnWord(r, disp, func(conn transport.Conn, at transport.Remote, old *uint64, id transport.OpID) error {
			return conn.FetchAdd(at, delta, old, id)
		})
		return err
	case size > packet.MaxData:
		return c.underLatch(r, disp, func(element []byte) (changed bool) {
			copy(unsafe.Slice((*byte)(old), size), element)
			return op == Replace && copy(element, unsafe.Slice((*byte)(from), size)) > 0
		})
	}
	return c.request(r, packet.Packet{Kind: packet.Fetch, Op: uint8(op), Disp: uint64(disp), Data: unsafe.Slice((*byte)(from), size)},
		unsafe.Slice((*byte)(old), size))
}

// swapRemote stores the element at replacement at disp if it equals the one at expect, and
// what it was at old.
func (c *core) swapRemote(target, disp int, old, expect, replacement unsafe.Pointer) error {
	if c.coherent != nil {
		return c.swapCoherent(target, disp, old, expect, replacement)
	}
	r := c.reach(target, disp, 1)
	if r == nil {
		return c.refuse("CompareAndSwap", target, disp, 1)
	}
	return c.failed("CompareAndSwap", target, disp, 1, c.swapAt(r, disp, old, expect, replacement))
}

func (c *core) swapAt(r *remote, disp int, old, expect, replacement unsafe.Pointer) (err error) {
	size := c.kind.Size
	if c.kind.Width == element.Double && r.cpuAtomics {
		a, b := *(*uint64)(expect), *(*uint64)(replacement)
		*(*uint64)(old), err = c.operateOnWord(r, disp, func(conn transport.Conn, at transport.Remote, old *uint64, id transport.OpID) error {
			return conn.CompareSwap(at, a, b, old, id)
		})
		return err
	}
	is, then := unsafe.Slice((*byte)(expect), size), unsafe.Slice((*byte)(replacement), size)
	if 2*size > packet.MaxData {
		return c.underLatch(r, disp, func(element []byte) (changed bool) {
			copy(unsafe.Slice((*byte)(old), size), element)
			return bytes.Equal(element, is) && copy(element, then) > 0
		})
	}
	var both [packet.MaxData]byte
	return c.request(r, packet.Packet{Kind: packet.Swap, Disp: uint64(disp), Data: append(append(both[:0], is...), then...)},
		unsafe.Slice((*byte)(old), size))
}

// accumulateRemote is Accumulate where the memory is not mapped, or there is none.
func (c *core) accumulateRemote(target, disp int, from unsafe.Pointer, n int, op Op) error {
	if c.coherent != nil {
		return c.accumulateCoherent(target, disp, from, n, op)
	}
	r := c.reach(target, disp, n)
	if r == nil {
		return c.refuse("Accumulate", target, disp, n)
	}
	return c.failed("Accumulate", target, disp, n, c.accumulateTo(r, disp, unsafe.Slice((*byte)(from), n*c.kind.Size), op))
}

// accumulateTo sends the elements, as many in a packet as fit.
func (c *core) accumulateTo(r *remote, disp int, src []byte, op Op) error {
	size := c.kind.Size
	most := packet.MaxData / size
	for len(src) > 0 {
		n := min(most, len(src)/size)
		var err error
		if n == 0 {
			n = 1
			err = c.accumulateLarge(r, disp, src[:size], op)
		} else {
			err = c.tell(r, &packet.Packet{Kind: packet.Accumulate, Op: uint8(op), Count: uint32(n), Disp: uint64(disp), Data: src[:n*size]})
		}
		if err != nil {
			return err
		}
		src, disp = src[n*size:], disp+n
	}
	return nil
}

// accumulateLarge is for an element that fits into no packet. The operations of such
// elements are Replace and NoOp.
func (c *core) accumulateLarge(r *remote, disp int, src []byte, op Op) error {
	if op == NoOp {
		return nil
	}
	return c.underLatch(r, disp, func(element []byte) (changed bool) { return copy(element, src) > 0 })
}

// underLatch has change look at, and change, the element at disp while this rank holds
// the latch over it. It is for elements that fit into no packet: three round trips.
func (c *core) underLatch(r *remote, disp int, change func(element []byte) (changed bool)) error {
	if err := c.request(r, packet.Packet{Kind: packet.Enter, Disp: uint64(disp)}, nil); err != nil {
		return err
	}
	element := make([]byte, c.kind.Size)
	err := c.get(r, disp, element)
	if err == nil && change(element) {
		err = c.put(r, disp, element)
	}
	return errors.Join(err, c.tell(r, &packet.Packet{Kind: packet.Leave, Disp: uint64(disp)}))
}
