package wire

import "fmt"

// A Sink is told what a Reader finds.
type Sink interface {
	// Begin is called with each header, in the order of the frames. It returns where
	// the payload goes, exactly h.Length bytes, or nil if nobody wants it.
	Begin(h *Header) ([]byte, error)
	// End is called when the payload is where it should be.
	End(h *Header) error
	// Whole is called first with a Message that lies in what was fed as a whole, and
	// takes it, or leaves it to Begin and End.
	Whole(h *Header, payload []byte) (taken bool, err error)
}

// A Reader takes a stream of frames apart. Its zero value is at the beginning of a
// stream.
//
// Invariant: inside a payload, want is what of it has not come, and place is where
// that goes (its length is want's, or it is nil).
type Reader struct {
	header Header
	buffer [HeaderBytes]byte
	have   int // bytes of a header in buffer
	inside bool
	want   int
	place  []byte
	last   uint32 // Seq of the last frame
}

// Last returns the number of the last frame that has begun.
func (r *Reader) Last() uint32 { return r.last }

// Place returns where the rest of a payload that has begun goes: a caller may read
// it from the network straight to there, and call Filled instead of Feed.
func (r *Reader) Place() []byte { return r.place }

// PutUnderWay returns the key of the Put whose payload has begun and not ended. false:
// there is none.
func (r *Reader) PutUnderWay() (key uint64, ok bool) {
	return r.header.Key, r.inside && r.header.Kind == Put
}

// Move has the rest of the payload under way go to place.
//
// Precondition: place is as long as Place.
func (r *Reader) Move(place []byte) { r.place = place }

// Filled says that n bytes of Place have been read.
func (r *Reader) Filled(n int, s Sink) error {
	r.place = r.place[n:]
	r.want -= n
	return r.endIfWhole(s)
}

// Feed takes in bytes of the stream.
func (r *Reader) Feed(b []byte, s Sink) error {
	for len(b) > 0 {
		var err error
		if r.inside {
			b, err = r.payload(b, s)
		} else {
			b, err = r.head(b, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) payload(b []byte, s Sink) ([]byte, error) {
	n := min(len(b), r.want)
	if r.place != nil {
		Copy(r.place, b[:n])
		r.place = r.place[n:]
	}
	r.want -= n
	return b[n:], r.endIfWhole(s)
}

// head decodes in place when the whole header has come at once.
func (r *Reader) head(b []byte, s Sink) ([]byte, error) {
	if r.have == 0 && len(b) >= HeaderBytes {
		return r.begin(b, b[HeaderBytes:], s)
	}
	n := copy(r.buffer[r.have:], b)
	if r.have += n; r.have < HeaderBytes {
		return nil, nil
	}
	r.have = 0
	return r.begin(r.buffer[:], b[n:], s)
}

// begin decodes a header and returns what of rest, which follows it, is left.
func (r *Reader) begin(b, rest []byte, s Sink) ([]byte, error) {
	h := &r.header
	if err := h.Decode(b); err != nil {
		return nil, err
	}
	if h.Seq != r.last+1 {
		return nil, fmt.Errorf("frame out of sequence: a %v with number %d where %d comes next", h.Kind, h.Seq, r.last+1)
	}
	r.last = h.Seq
	if n := int(h.Length); h.Kind == Message && n <= len(rest) {
		if taken, err := s.Whole(h, rest[:n:n]); taken || err != nil {
			return rest[n:], err
		}
	}
	place, err := s.Begin(h)
	if err != nil {
		return nil, err
	}
	if place != nil && len(place) != int(h.Length) {
		return nil, fmt.Errorf("a %v of %d bytes has a place of %d", h.Kind, h.Length, len(place))
	}
	r.inside, r.want, r.place = true, int(h.Length), place
	return rest, r.endIfWhole(s)
}

func (r *Reader) endIfWhole(s Sink) error {
	if r.want > 0 {
		return nil
	}
	r.inside, r.place = false, nil
	return s.End(&r.header)
}
