package tree

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A frame on a link is a length (u32, little-endian, of what follows), a kind (u8)
// and the fields of that kind: numbers of 8 bytes, little-endian (Protocol: 4),
// texts with a length of one byte, Data to the end.

// MaxFrame is the length of the longest frame, without its length's four bytes.
const MaxFrame = 64 << 10

var errShort = errors.New("it ends early")

// AppendFrame appends f to b.
func AppendFrame(b []byte, f *Frame) []byte {
	at := len(b)
	b = append(b, 0, 0, 0, 0, byte(f.Kind))
	c := coder{buf: b}
	c.frame(f)
	binary.LittleEndian.PutUint32(c.buf[at:], uint32(len(c.buf)-at-4))
	return c.buf
}

// Decode reads a frame that follows its length. The frame refers to b.
func Decode(b []byte) (Frame, error) {
	if len(b) == 0 || b[0] == 0 || b[0] >= byte(kinds) {
		return Frame{}, fmt.Errorf("no frame of the launch tree begins with % x", b[:min(len(b), 1)])
	}
	f := Frame{Kind: Kind(b[0])}
	c := coder{reading: true, buf: b[1:]}
	c.frame(&f)
	if !c.short && len(c.buf) > 0 {
		return f, fmt.Errorf("frame of kind %d: %d bytes too many", f.Kind, len(c.buf))
	}
	if c.short {
		return f, fmt.Errorf("frame of kind %d: %w", f.Kind, errShort)
	}
	return f, nil
}

// A coder writes fields to the end of buf, or reads them from its beginning.
type coder struct {
	reading, short bool
	buf            []byte
}

// frame is the layout of every kind.
func (c *coder) frame(f *Frame) {
	switch f.Kind {
	case Greet:
		c.small(&f.Protocol)
		c.id(&f.Host)
	case Refuse:
		c.text(&f.Text)
	case Attach, Accept:
		c.number(&f.N)
	case Facts:
		c.facts(&f.Facts)
	case Up:
		c.id(&f.Host)
		c.number(&f.Seq)
		c.number(&f.Ack)
		c.rest(&f.Data)
	case Down:
		c.id(&f.Host)
		c.number(&f.Ack)
		c.rest(&f.Data)
	case All:
		c.rest(&f.Data)
	case Resync:
		c.id(&f.Host)
		c.number(&f.Seq)
		c.number(&f.Ack)
		c.path(&f.Path)
	case Reject:
		c.id(&f.Host)
		c.number(&f.Ack)
		c.text(&f.Text)
	}
}

// take returns the next n bytes, nil when there are fewer.
func (c *coder) take(n int) []byte {
	if c.short || n > len(c.buf) {
		c.short = true
		return nil
	}
	b := c.buf[:n:n]
	c.buf = c.buf[n:]
	return b
}

func (c *coder) small(v *uint32) {
	if !c.reading {
		c.buf = binary.LittleEndian.AppendUint32(c.buf, *v)
	} else if b := c.take(4); b != nil {
		*v = binary.LittleEndian.Uint32(b)
	}
}

func (c *coder) number(v *uint64) {
	if !c.reading {
		c.buf = binary.LittleEndian.AppendUint64(c.buf, *v)
	} else if b := c.take(8); b != nil {
		*v = binary.LittleEndian.Uint64(b)
	}
}

func (c *coder) id(v *ID) { c.number((*uint64)(v)) }

func (c *coder) text(v *string) {
	if !c.reading {
		s := shortened(*v)
		c.buf = append(append(c.buf, byte(len(s))), s...)
	} else if b := c.take(1); b != nil {
		*v = string(c.take(int(b[0])))
	}
}

func (c *coder) rest(v *[]byte) {
	if !c.reading {
		c.buf = append(c.buf, *v...)
	} else if len(c.buf) > 0 && !c.short {
		*v = c.take(len(c.buf))
	}
}

func (c *coder) path(v *[]Hop) {
	if c.reading {
		*v = make([]Hop, (len(c.buf)+hopSize-1)/hopSize) // a part of one is too short
	}
	for i := range *v {
		c.id(&(*v)[i].Host)
		c.number(&(*v)[i].N)
	}
}

// hopSize is the length of a Hop.
const hopSize = 16

func (c *coder) facts(v *[]Fact) {
	if !c.reading {
		for i := range *v {
			c.fact(&(*v)[i])
		}
		return
	}
	for len(c.buf) > 0 && !c.short {
		var f Fact
		c.fact(&f)
		*v = append(*v, f)
	}
}

// The bits of a fact.
const (
	bitOver = 1 << iota
	bitDead
)

func (c *coder) fact(f *Fact) {
	c.id(&f.Host)
	c.id(&f.Parent)
	c.number(&f.N)
	c.ends(f)
	c.text(&f.Text)
}

func (c *coder) ends(f *Fact) {
	if !c.reading {
		var bits byte
		if f.Over {
			bits |= bitOver
		}
		if f.Dead {
			bits |= bitDead
		}
		c.buf = append(c.buf, bits)
	} else if b := c.take(1); b != nil {
		f.Over, f.Dead = b[0]&bitOver != 0, b[0]&bitDead != 0
		c.short = c.short || b[0]&^(bitOver|bitDead) != 0
	}
}
