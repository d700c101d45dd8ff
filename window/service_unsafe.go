package window

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"

	"github.com/golaunch/golaunch/window/element"
	"github.com/golaunch/golaunch/window/packet"
)

// What a service does with this rank's elements. It is right because check has
// compared displacements and lengths with the part and the data before an address is
// made of them.

// aligned is where the data of p are, which a message may have at any address.
func aligned(p *packet.Packet) unsafe.Pointer {
	if len(p.Data) > 0 && uintptr(unsafe.Pointer(&p.Data[0]))%8 != 0 {
		p.Data = slices.Clone(p.Data)
	}
	return unsafe.Pointer(unsafe.SliceData(p.Data))
}

func (s *service) accumulate(o *client, t *task, wait bool) error {
	c, op := s.core, Op(t.Op)
	if err := c.kind.Valid(op); err != nil {
		return err
	}
	if err := s.check(&t.Packet, int(t.Count), int(t.Count)); err != nil {
		return err
	}
	from, disp, n := aligned(&t.Packet), int(t.Disp), int(t.Count)
	if c.kind.Width != element.Ranged {
		c.kind.Accumulate(c.ownElement(disp), from, n, op)
		return nil
	}
	for t.done < n {
		at := disp + t.done
		length := min(n-t.done, rangeLength-at%rangeLength)
		if err := s.enter(o, at, wait); err != nil {
			return err
		}
		c.kind.Update(nil, c.ownElement(at), unsafe.Add(from, t.done*c.kind.Size), length, op)
		s.leave(o, at)
		t.done += length
	}
	return nil
}

func (s *service) fetch(o *client, t *task, wait bool) ([]byte, error) {
	c, op := s.core, Op(t.Op)
	if err := c.kind.Valid(op); err != nil {
		return nil, err
	}
	if err := s.check(&t.Packet, 1, 1); err != nil {
		return nil, err
	}
	at, from, old := int(t.Disp), aligned(&t.Packet), make([]byte, c.kind.Size)
	if c.kind.Width != element.Ranged {
		putBits(old, c.kind.Fetch(c.ownElement(at), bitsOf(t.Data), op))
		return old, nil
	}
	if err := s.enter(o, at, wait); err != nil {
		return nil, err
	}
	c.kind.Update(unsafe.Pointer(&old[0]), c.ownElement(at), from, 1, op)
	s.leave(o, at)
	return old, nil
}

func (s *service) swap(o *client, t *task, wait bool) ([]byte, error) {
	c, size := s.core, s.core.kind.Size
	if err := c.kind.Swappable(); err != nil {
		return nil, err
	}
	if err := s.check(&t.Packet, 1, 2); err != nil {
		return nil, err
	}
	at, old := int(t.Disp), make([]byte, size)
	expect, replacement := t.Data[:size], t.Data[size:]
	if c.kind.Width != element.Ranged {
		putBits(old, c.kind.CompareAndSwap(c.ownElement(at), bitsOf(expect), bitsOf(replacement)))
		return old, nil
	}
	if err := s.enter(o, at, wait); err != nil {
		return nil, err
	}
	c.kind.Swap(unsafe.Pointer(&old[0]), c.ownElement(at), unsafe.Pointer(&expect[0]), unsafe.Pointer(&replacement[0]))
	s.leave(o, at)
	return old, nil
}

// enterFor has the origin itself hold the latch.
func (s *service) enterFor(o *client, t *task, wait bool) error {
	if err := s.check(&t.Packet, 1, 0); err != nil {
		return err
	}
	if s.core.kind.Width != element.Ranged {
		return fmt.Errorf("elements of type %v have no latch", s.core.kind.Type)
	}
	if err := s.enter(o, int(t.Disp), wait); err != nil {
		return err
	}
	o.inside.Or(1 << rangeOf(int(t.Disp)))
	return nil
}

// leaveFor lets the origin leave the latch, which it has entered.
func (s *service) leaveFor(o *client, p *packet.Packet) {
	if s.check(p, 1, 0) != nil {
		return
	}
	if bit := uint32(1) << rangeOf(int(p.Disp)); o.inside.And(^bit)&bit != 0 {
		s.leave(o, int(p.Disp))
	}
}

// enter enters the latch over element disp for an origin. If somebody is inside it
// returns errBusy, unless it may wait.
func (s *service) enter(o *client, disp int, wait bool) error {
	if wait {
		return o.latches.Enter(rangeOf(disp))
	}
	if !o.latches.TryEnter(rangeOf(disp)) {
		return errBusy
	}
	return nil
}

func (s *service) leave(o *client, disp int) { o.latches.Leave(rangeOf(disp)) }

// bitsOf and putBits convert elements of at most 8 bytes.
func bitsOf(b []byte) uint64 {
	var v [8]byte
	copy(v[:], b)
	return binary.LittleEndian.Uint64(v[:])
}

func putBits(dst []byte, v uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	copy(dst, b[:])
}

// ownElement is the address of element i of this rank's part, which exists.
func (c *core) ownElement(i int) unsafe.Pointer {
	return unsafe.Add(c.parts[c.me].base, i*c.kind.Size)
}
