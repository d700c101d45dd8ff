package link

import "sync/atomic"

// A Reader is the reading end.
//
// Invariant: told <= at <= written <= at+len(ring).
type Reader struct {
	ring    []byte
	at      uint64        // bytes taken
	told    uint64        // what the writer knows of at
	written atomic.Uint64 // by the writer, as far as it has told
	tell    func(taken uint64) error
}

// NewReader returns the reading end of a ring, whose length is a multiple of Align.
// tell tells the writer how much was taken.
func NewReader(ring []byte, tell func(taken uint64) error) *Reader {
	return &Reader{ring: ring, tell: tell}
}

// Peek returns the bytes that can be read in one piece, without taking them.
func (r *Reader) Peek() []byte {
	from := int(r.at % uint64(len(r.ring)))
	held := min(r.written.Load()-r.at, uint64(len(r.ring))) // the writer's number may be anything
	return r.ring[from:min(from+int(held), len(r.ring))]
}

// tellAfter is the part of the ring after which the writer is told that it is free:
// seldom enough to cost little, often enough that the writer need not stop.
const tellAfter = 2

// At is how much was taken. The caller tells the writer.
func (r *Reader) At() uint64 {
	r.told = r.at
	return r.at
}

// Take gives the first n bytes of the last Peek back to the writer. They must not
// be touched afterwards.
func (r *Reader) Take(n int) error {
	r.at += uint64(n)
	if r.at-r.told < uint64(len(r.ring)/tellAfter) {
		return nil
	}
	return r.tell(r.At())
}

// Pad takes the bytes up to a multiple of Align. It does nothing and returns false
// while the writer has not come that far.
func (r *Reader) Pad() (moved bool, err error) {
	n := int(-r.at % Align)
	if n == 0 {
		return true, nil
	}
	if len(r.Peek()) < n {
		return false, nil
	}
	return true, r.Take(n)
}

// Written is told that the writer has written n bytes in all.
func (r *Reader) Written(n uint64) { r.written.Store(n) }
