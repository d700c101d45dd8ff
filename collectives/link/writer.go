package link

import "sync/atomic"

// Align is what Pad moves to a multiple of, in bytes: elements of every type that
// begin there are aligned.
const Align = 64

// A Writer is the writing end.
//
// Invariant: taken <= at <= taken+size.
type Writer struct {
	size  int
	at    uint64        // bytes written
	taken atomic.Uint64 // by the reader, as far as it has told
	put   func(offset int, b []byte, written uint64) error
	tell  func(written uint64) error
}

// NewWriter returns the writing end for a ring of size bytes, a multiple of Align and
// at least twice that: padding must fit beside what the reader has not told of.
// put stores bytes at an offset of the ring and is done with b when it returns; it
// tells the reader, and so does tell alone, how much was written.
func NewWriter(size int, put func(offset int, b []byte, written uint64) error, tell func(written uint64) error) *Writer {
	return &Writer{size: size, put: put, tell: tell}
}

// Free is how many bytes, at most want, may be written in one piece now.
func (w *Writer) Free(want int) int {
	from := int(w.at % uint64(w.size))
	held := min(w.at-w.taken.Load(), uint64(w.size)) // the reader's number may be anything
	return min(want, w.size-int(held), w.size-from)
}

// Write writes b, which is no longer than Free allows.
func (w *Writer) Write(b []byte) error {
	offset := int(w.at % uint64(w.size))
	w.at += uint64(len(b))
	return w.put(offset, b, w.at)
}

// Pad moves the position up to a multiple of Align, without data; the reader does
// the same. It does nothing and returns false while there is no room.
func (w *Writer) Pad() (moved bool, err error) {
	n := int(-w.at % Align)
	if n == 0 {
		return true, nil
	}
	if w.Free(n) < n {
		return false, nil
	}
	w.at += uint64(n)
	return true, w.tell(w.at)
}

// At is how much was written.
func (w *Writer) At() uint64 { return w.at }

// Taken is told that the reader has taken n bytes in all.
func (w *Writer) Taken(n uint64) { w.taken.Store(n) }
