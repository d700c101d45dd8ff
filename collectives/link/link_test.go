package link

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// carrier keeps what is put and told until the test delivers it, in order.
type carrier struct {
	ring     []byte
	underWay []func()
	toWriter []uint64
	refuses  bool
	w        *Writer
	r        *Reader
}

var errRefused = errors.New("the connection is gone")

func newCarrier(size int) *carrier {
	c := &carrier{ring: make([]byte, size)}
	c.w = NewWriter(size,
		func(offset int, b []byte, written uint64) error {
			if c.refuses {
				return errRefused
			}
			own := bytes.Clone(b)
			c.underWay = append(c.underWay, func() { copy(c.ring[offset:offset+len(own)], own) })
			c.underWay = append(c.underWay, func() { c.r.Written(written) })
			return nil
		},
		func(written uint64) error {
			c.underWay = append(c.underWay, func() { c.r.Written(written) })
			return nil
		})
	c.r = NewReader(c.ring, func(taken uint64) error {
		c.toWriter = append(c.toWriter, taken)
		return nil
	})
	return c
}

func (c *carrier) deliver(n int) {
	for range min(n, len(c.underWay)) {
		c.underWay[0]()
		c.underWay = c.underWay[1:]
	}
}

func (c *carrier) answer(n int) {
	for range min(n, len(c.toWriter)) {
		c.w.Taken(c.toWriter[0])
		c.toWriter = c.toWriter[1:]
	}
}

// Whatever the carrier's pace, the reader sees the writer's bytes, and a writer that
// waits for room gets it.
func TestStreamOfMessages(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { streamOfMessages(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func streamOfMessages(t *testing.T, rng *rand.Rand) {
	c := newCarrier(Align * (2 + rng.IntN(16)))
	var sent, got []byte // of the message under way
	length := func() int { return 1 + rng.IntN(3*len(c.ring)) }
	messages, want := 20, length()
	next, read := byte(0), byte(0)
	padW, padR := false, false
	for steps := 0; messages > 0; steps++ {
		if steps > 1_000_000 {
			t.Fatal("the stream stands still")
		}
		if n := c.w.Free(want - len(sent)); !padW && n > 0 {
			piece := make([]byte, 1+rng.IntN(n))
			for i := range piece {
				piece[i] = next
				next++
			}
			if err := c.w.Write(piece); err != nil {
				t.Fatal(err)
			}
			sent = append(sent, piece...)
		}
		if len(sent) == want && !padW {
			padW, _ = c.w.Pad()
		}
		c.deliver(rng.IntN(3))
		if p := c.r.Peek(); !padR && len(p) > 0 {
			n := min(1+rng.IntN(len(p)), want-len(got))
			got = append(got, p[:n]...)
			if err := c.r.Take(n); err != nil {
				t.Fatal(err)
			}
		}
		if len(got) == want && !padR {
			padR, _ = c.r.Pad()
		}
		c.answer(rng.IntN(2))
		if padW && padR {
			for i, b := range got {
				if b != read {
					t.Fatalf("byte %d of %d is %d, want %d", i, want, b, read)
				}
				read++
			}
			messages--
			sent, got, want, padW, padR = sent[:0], got[:0], length(), false, false
		}
	}
}

func TestWriterStopsAtAFullRing(t *testing.T) {
	c := newCarrier(4 * Align)
	if err := c.w.Write(make([]byte, c.w.Free(1<<20))); err != nil {
		t.Fatal(err)
	}
	if n := c.w.Free(1); n != 0 {
		t.Errorf("%d bytes are free in a full ring", n)
	}
	c.deliver(10)
	if err := c.r.Take(2 * Align); err != nil {
		t.Fatal(err)
	}
	c.answer(1)
	if n := c.w.Free(1 << 20); n != 2*Align {
		t.Errorf("%d bytes are free, want %d", n, 2*Align)
	}
}

func TestErrorsOfTheCarrierAreTheCallers(t *testing.T) {
	c := newCarrier(Align)
	c.refuses = true
	if err := c.w.Write([]byte{1}); !errors.Is(err, errRefused) {
		t.Errorf("%v, want %v", err, errRefused)
	}
}

// What the other side tells comes from another host: whatever it is, nobody reaches
// outside the ring.
func FuzzNumbers(f *testing.F) {
	f.Add(uint64(0), uint64(0), 0)
	f.Add(^uint64(0), uint64(1)<<63, 100)
	f.Fuzz(func(t *testing.T, taken, written uint64, first int) {
		c := newCarrier(4 * Align)
		if n := c.w.Free(min(max(first, 0), 4*Align)); n > 0 {
			c.w.Write(make([]byte, n))
		}
		c.w.Taken(taken)
		if n := c.w.Free(1 << 20); n < 0 || n > len(c.ring)-int(c.w.at%uint64(len(c.ring))) {
			t.Errorf("%d bytes are free at %d of a ring of %d", n, c.w.at, len(c.ring))
		}
		c.r.Written(written)
		if n := len(c.r.Peek()); n > len(c.ring) {
			t.Errorf("%d bytes are there in a ring of %d", n, len(c.ring))
		}
	})
}
