package pipe

// A Writer is the writing end.
type Writer struct {
	end
	at    uint64 // == written
	known uint64 // <= taken
}

// OpenWriter returns the writing end of the pipe in mem.
func OpenWriter(mem []byte) (*Writer, error) {
	e, err := open(mem)
	if err != nil {
		return nil, err
	}
	return &Writer{end: e, at: e.written.Load(), known: e.taken.Load()}, nil
}

// Room returns the free space that is contiguous, at least want bytes of it if
// the pipe has them in one piece. It may be empty. What is written there counts
// only after Commit.
func (w *Writer) Room(want int) []byte {
	if w.free() < want {
		w.known = w.taken.Load()
	}
	from := int(w.at % Capacity)
	return w.data[from:min(from+w.free(), Capacity)]
}

// free is how many bytes may be written. The other process wrote the counter: a
// nonsensical one must not make Room reach outside the data.
func (w *Writer) free() int { return Capacity - int(min(w.at-w.known, Capacity)) }

// Commit makes the first n bytes of the last Room visible to the reader.
func (w *Writer) Commit(n int) {
	w.at += uint64(n)
	w.written.Store(w.at)
}

// Write copies as much of b as fits in one piece and returns how much that was.
func (w *Writer) Write(b []byte) int {
	n := copy(w.Room(len(b)), b)
	if n > 0 {
		w.Commit(n)
	}
	return n
}

// Pad moves the write position up to a multiple of Align, without data; the
// reader does the same. The distance never spans the end of the data. It reports
// false while there is no room.
func (w *Writer) Pad() bool {
	n := int(-w.at % Align)
	if n == 0 {
		return true
	}
	if len(w.Room(n)) < n {
		return false
	}
	w.Commit(n)
	return true
}

// A Reader is the reading end.
type Reader struct {
	end
	at    uint64 // == taken
	known uint64 // <= written
}

// OpenReader returns the reading end of the pipe in mem.
func OpenReader(mem []byte) (*Reader, error) {
	e, err := open(mem)
	if err != nil {
		return nil, err
	}
	return &Reader{end: e, at: e.taken.Load(), known: e.written.Load()}, nil
}

// Peek returns the bytes that can be read in one piece, without taking them. It
// looks for new ones only when it knows of fewer than want.
func (r *Reader) Peek(want int) []byte {
	if int(r.known-r.at) < want {
		r.known = r.written.Load()
	}
	from := int(r.at % Capacity)
	return r.data[from:min(from+r.held(), Capacity)]
}

// held is how many bytes are in the pipe. The other process wrote the counter: a
// nonsensical one must not make Peek reach outside the data.
func (r *Reader) held() int { return int(min(r.known-r.at, Capacity)) }

// Take gives the first n bytes of the last Peek back to the writer. They must not
// be touched afterwards.
func (r *Reader) Take(n int) {
	r.at += uint64(n)
	r.taken.Store(r.at)
}

// Pad takes the bytes up to a multiple of Align. It reports false while the
// writer has not come that far.
func (r *Reader) Pad() bool {
	n := int(-r.at % Align)
	if n == 0 {
		return true
	}
	if len(r.Peek(n)) < n {
		return false
	}
	r.Take(n)
	return true
}
