package arena

import (
	"errors"
	"slices"
)

// slabSize is how much memory is set aside at a time for extents smaller than a
// page, at least.
const slabSize = 64 << 10

// A slab is a part of a segment that small blocks are cut from. It never becomes
// a block itself.
type slab struct {
	segment   *segment
	next, end int64
}

func (a *Arena) slabBytes() int64 { return max(slabSize, 4*a.classes.page) }

// obtain returns a block of a class, reused or new.
func (a *Arena) obtain(k class) (b *block, reused bool, err error) {
	a.mu.Lock()
	b, reused, err = a.take(k)
	a.mu.Unlock()
	if b != nil || err != nil {
		return b, reused, err
	}
	return a.grow(k)
}

// take returns a block without asking the kernel for anything; nil when that is
// not possible. mu is held.
func (a *Arena) take(k class) (b *block, reused bool, err error) {
	if a.closed {
		return nil, false, ErrClosed
	}
	if b = a.free.pop(k); b != nil {
		a.reuse(b)
		return b, true, nil
	}
	if b = a.cut(k); b != nil {
		b.segment.busy++
		a.usage.InUse += b.class.size
		a.usage.Allocs++
	}
	return b, false, nil
}

// reuse hands a block out again. mu is held.
func (a *Arena) reuse(b *block) {
	b.state = inUse
	b.segment.busy++
	a.usage.Free -= b.class.size
	a.usage.InUse += b.class.size
	a.usage.Allocs++
	a.usage.Reuses++
}

// cut makes a block from populated memory. mu is held.
func (a *Arena) cut(k class) *block {
	var s *segment
	var offset int64
	if k.band == small {
		s, offset = a.cutSmall(k.size)
	} else {
		s, offset = a.cutPages(k.size)
	}
	if s == nil {
		return nil
	}
	b := &block{segment: s, offset: offset, class: k}
	a.blocks[address(b.bytes())] = b
	return b
}

func (a *Arena) cutSmall(size int64) (*segment, int64) {
	if a.slab.end-a.slab.next < size {
		s, offset := a.cutPages(a.slabBytes())
		if s == nil {
			return nil, 0
		}
		a.slab = slab{s, offset, offset + a.slabBytes()}
	}
	offset := a.slab.next
	a.slab.next += size
	return a.slab.segment, offset
}

// cutPages tries the oldest segment first: the small early ones fill up.
func (a *Arena) cutPages(size int64) (*segment, int64) {
	for _, s := range a.open {
		if offset, ok := s.cut(size, a.classes.page); ok {
			return s, offset
		}
	}
	return nil, 0
}

// grow gets more memory and returns a block of it: from holds of ranks that are gone,
// from the kernel, from the kernel once what is free elsewhere was given back to it,
// or, when there is no more, a free block that is larger than the class.
func (a *Arena) grow(k class) (b *block, reused bool, err error) {
	a.growing.Lock()
	defer a.growing.Unlock()
	a.bury()
	// The first round finds what another goroutine has freed or grown meanwhile.
	// More than two are needed only when others cut away room that this one counted
	// on, between its look at a segment and the new memory's arrival.
	add := func() {}
	for {
		a.mu.Lock()
		add()
		b, reused, err = a.take(k)
		a.mu.Unlock()
		if b != nil || err != nil {
			return b, reused, err
		}
		if add, err = a.more(k); err == nil {
			continue
		}
		add = func() {}
		returned, failed := a.relieve()
		if returned == 0 {
			return a.takeLarger(k, errors.Join(err, failed))
		}
	}
}

// takeLarger is grow's last resort; why is what it ran into.
func (a *Arena) takeLarger(k class, why error) (*block, bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := a.free.popLarger(k)
	if b == nil {
		return nil, false, why
	}
	a.reuse(b)
	return b, true, nil
}

// more populates memory for a block of a class: further in a segment that has
// room, else in a new one. Calling add, with mu held, makes it usable. growing is
// held.
func (a *Arena) more(k class) (add func(), err error) {
	need := k.size
	if k.band == small {
		need = a.slabBytes()
	}
	if s, generous, exact := a.room(need); s != nil {
		return a.advance(s, generous, exact)
	}
	return a.addSegment(need)
}

// room finds a segment that is mapped far enough for need bytes, and how far to
// populate it.
func (a *Arena) room(need int64) (s *segment, generous, exact int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.open {
		if generous, exact, ok := s.target(need, a.classes.page); ok {
			return s, generous, exact
		}
	}
	return nil, 0, 0
}

// advance populates a segment up to generous bytes or, where memory is short, up
// to exact.
func (a *Arena) advance(s *segment, generous, exact int64) (add func(), err error) {
	ready := s.ready
	err = a.reserved(generous-ready, exact-ready, func(bytes int64) error {
		generous = ready + bytes
		return populate(s.mem[ready:generous], a.classes.page)
	})
	if err != nil {
		return nil, err
	}
	return func() {
		s.ready = generous
		a.usage.Populated += generous - ready
	}, nil
}

// addSegment wakes a segment that is large enough, or makes one: of the ordinary size
// or, where so much cannot be registered, of the size that is needed.
func (a *Arena) addSegment(need int64) (add func(), err error) {
	need = roundUp(need, a.classes.page)
	if s := a.sleeper(need); s != nil && a.wake(s, need) == nil {
		if add, err = a.enlist(s); err == nil || int64(len(s.mem)) == need {
			return add, err
		}
	}
	size := max(a.larger, need)
	if add, err = a.extend(size, need); err != nil && a.registrar != nil && size > need {
		return a.extend(need, need)
	}
	return add, err
}

// extend makes, populates, publishes and registers a segment. Memory is reserved before
// anything is made: what cannot be had leaves nothing behind. What cannot be registered
// sleeps.
func (a *Arena) extend(size, need int64) (add func(), err error) {
	var s *segment
	err = a.reserved(a.filled(need, size), need, func(bytes int64) (err error) {
		if a.registrar != nil {
			size = bytes // all of it is registered, and so populated
		}
		s, err = a.makeSegment(size, bytes)
		return err
	})
	if err != nil {
		return nil, err
	}
	a.know(s)
	if add, err = a.enlist(s); err == nil {
		a.larger = min(2*a.larger, largestSegment)
	}
	return add, err
}

// filled is how much of a segment to populate first. What is registered is populated
// whole: a NIC pins every page of it.
func (a *Arena) filled(need, size int64) int64 {
	if a.registrar != nil {
		return size
	}
	return max(need, min(stride(size), size))
}

// makeSegment makes a segment with its first bytes populated. growing is held,
// so the number of segments is known.
func (a *Arena) makeSegment(size, bytes int64) (*segment, error) {
	s, err := newSegment(size)
	if err != nil {
		return nil, err
	}
	s.key, s.ready = uint64(len(a.segments)+1), bytes
	if err = populate(s.mem[:bytes], a.classes.page); err == nil && a.cfg.Publish != nil {
		err = a.cfg.Publish(s.key, s.file, size)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// know records a segment that was published: its key is taken for good.
func (a *Arena) know(s *segment) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.segments = append(a.segments, s)
	a.table.Store(a.table.Load().with(s))
	a.usage.Segments++
	a.usage.Mapped += int64(len(s.mem))
	a.usage.Populated += s.ready
}

// enlist registers a segment that has pages. Calling add, with mu held, has blocks
// cut from it.
func (a *Arena) enlist(s *segment) (add func(), err error) {
	if err := a.register(s); err != nil {
		return nil, errors.Join(err, a.rest(s))
	}
	return func() { a.open = append(slices.DeleteFunc(a.open, a.full), s) }, nil
}

// full: not even a page is left.
func (a *Arena) full(s *segment) bool { return int64(len(s.mem))-s.next < a.classes.page }

// reserved calls do with as many bytes as may be filled: want, or else need.
func (a *Arena) reserved(want, need int64, do func(bytes int64) error) error {
	if a.cfg.Reserve == nil {
		return do(want)
	}
	release, err := a.cfg.Reserve(want)
	if err != nil && need < want {
		want = need
		release, err = a.cfg.Reserve(want)
	}
	if err != nil {
		return err
	}
	defer release()
	return do(want)
}
