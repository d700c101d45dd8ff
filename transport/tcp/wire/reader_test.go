package wire

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A frame is what a test expects to come out of a Reader.
type frame struct {
	Header  Header
	Payload []byte
}

// collector keeps frames; those whose Token is odd have nowhere to go. It takes every
// other Message that comes whole.
type collector struct {
	frames []frame
	begun  int
	place  []byte
}

func (c *collector) Begin(h *Header) ([]byte, error) {
	if c.begun != len(c.frames) {
		return nil, errors.New("Begin before End")
	}
	c.begun++
	c.place = nil
	if h.Token%2 == 0 {
		c.place = make([]byte, h.Length)
	}
	return c.place, nil
}

func (c *collector) Whole(h *Header, payload []byte) (bool, error) {
	if c.begun != len(c.frames) {
		return false, errors.New("Whole before End")
	}
	if h.Kind != Message || int(h.Length) != len(payload) {
		return false, errors.New("Whole of something else")
	}
	if h.Token%4 > 1 {
		return false, nil
	}
	c.begun++
	if c.place = nil; h.Token%2 == 0 {
		c.place = bytes.Clone(payload)
	}
	return true, c.End(h)
}

func (c *collector) End(h *Header) error {
	if c.begun != len(c.frames)+1 {
		return errors.New("End without Begin")
	}
	c.frames = append(c.frames, frame{*h, c.place})
	return nil
}

// drawFrames returns n legal frames and their bytes.
func drawFrames(random *rand.Rand, n int) ([]frame, []byte) {
	var frames []frame
	var stream []byte
	for i := range n {
		h := Header{Kind: Kind(1 + random.IntN(int(kinds)-1)), Flags: uint8(random.IntN(2)), Seq: uint32(i + 1),
			Ack: random.Uint32(), Taken: random.Uint32(), Token: random.Uint32(), Key: random.Uint64(),
			Offset: int64(random.Uint64()), Value: random.Uint64N(MaxPiece)}
		least, most := h.lengths()
		h.Length = least + uint32(random.IntN(int(min(most, 300)-least)+1))
		payload := make([]byte, h.Length)
		for k := range payload {
			payload[k] = byte(random.Uint32())
		}
		stream = append(stream, make([]byte, HeaderBytes)...)
		h.Encode(stream[len(stream)-HeaderBytes:])
		stream = append(stream, payload...)
		if h.Token%2 == 1 {
			payload = nil
		}
		frames = append(frames, frame{h, payload})
	}
	return frames, stream
}

// TestReaderAtEveryCut: the same frames come out wherever the stream is cut and
// whichever way its payloads are read.
func TestReaderAtEveryCut(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		want, stream := drawFrames(random, 1+random.IntN(8))
		var r Reader
		got := &collector{}
		for rest := stream; len(rest) > 0; {
			n := 1 + random.IntN(min(len(rest), 100))
			if place := r.Place(); len(place) > 0 && random.IntN(2) == 0 {
				n = copy(place[:1+random.IntN(len(place))], rest)
				if err := r.Filled(n, got); err != nil {
					t.Fatal(err)
				}
			} else if err := r.Feed(rest[:n], got); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if diff := cmp.Diff(want, got.frames); diff != "" {
			t.Fatalf("other frames came out than went in (-want +got):\n%s", diff)
		}
	}
}

func encode(h Header) []byte {
	b := make([]byte, HeaderBytes)
	h.Encode(b)
	return b
}

func TestReaderRefuses(t *testing.T) {
	reserved := encode(Header{Kind: Ack, Seq: 1})
	reserved[2] = 1
	cases := map[string]struct {
		stream []byte
		says   string
	}{
		"kind 0":            {make([]byte, HeaderBytes), "malformed"},
		"unknown kind":      {encode(Header{Kind: kinds, Seq: 1}), "malformed"},
		"unknown flag":      {encode(Header{Kind: Ack, Flags: 2, Seq: 1}), "malformed"},
		"reserved bits":     {reserved, "malformed"},
		"oversized Put":     {encode(Header{Kind: Put, Seq: 1, Length: MaxPiece + 1}), "1048577 bytes"},
		"oversized Data":    {encode(Header{Kind: Data, Seq: 1, Length: 1 << 31}), "2147483648 bytes"},
		"oversized Message": {encode(Header{Kind: Message, Seq: 1, Length: MaxMessage + 1}), "4097 bytes"},
		"oversized Get":     {encode(Header{Kind: Get, Seq: 1, Value: 1 << 40}), "1099511627776 bytes"},
		"swap of 4 bytes":   {encode(Header{Kind: CompareSwap, Seq: 1, Length: 4}), "4 bytes"},
		"Ack with payload":  {encode(Header{Kind: Ack, Seq: 1, Length: 1}), "1 bytes"},
		"first is number 2": {encode(Header{Kind: Ack, Seq: 2}), "out of sequence"},
		"replayed":          {append(encode(Header{Kind: Ack, Seq: 1}), encode(Header{Kind: Ack, Seq: 1})...), "out of sequence"},
		"HTTP":              {[]byte("GET / HTTP/1.1\r\nHost: example.org\r\nAccept: */*\r\n\r\n"), "malformed"},
	}
	for name, c := range cases {
		var r Reader
		err := r.Feed(c.stream, &collector{})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v does not say %q", name, err, c.says)
		}
	}
}

func TestBeforeWrapsAround(t *testing.T) {
	for _, c := range []struct {
		a, b uint32
		want bool
	}{{1, 2, true}, {2, 1, false}, {1, 1, false}, {^uint32(0), 0, true}, {0, ^uint32(0), false}, {^uint32(5), 1 << 30, true}} {
		if Before(c.a, c.b) != c.want {
			t.Errorf("Before(%d, %d) is %v", c.a, c.b, !c.want)
		}
	}
}

// FuzzReader: whatever the bytes and the cuts, the Reader keeps its word to the
// Sink, cuts do not matter, and what it accepts encodes to the same bytes.
func FuzzReader(f *testing.F) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 10 {
		_, stream := drawFrames(random, 3)
		f.Add(stream, uint16(random.Uint32()))
	}
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"), uint16(1))
	f.Fuzz(func(t *testing.T, stream []byte, cut uint16) {
		var whole, cutUp Reader
		a, b := &collector{}, &collector{}
		errA := whole.Feed(stream, a)
		at := int(cut) % (len(stream) + 1)
		errB := cutUp.Feed(stream[:at], b)
		if errB == nil {
			errB = cutUp.Feed(stream[at:], b)
		}
		if (errA == nil) != (errB == nil) {
			t.Fatalf("whole: %v, cut at %d: %v", errA, at, errB)
		}
		if diff := cmp.Diff(a.frames, b.frames); diff != "" {
			t.Fatalf("cut at %d:\n%s", at, diff)
		}
		var again []byte
		for _, fr := range a.frames {
			again = append(again, encode(fr.Header)...)
			if fr.Payload == nil {
				fr.Payload = stream[len(again):][:fr.Header.Length]
			}
			again = append(again, fr.Payload...)
		}
		if !bytes.HasPrefix(stream, again) {
			t.Fatal("accepted frames encode to other bytes")
		}
	})
}
