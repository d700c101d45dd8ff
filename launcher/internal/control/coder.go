package control

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A coder writes a message's fields to the end of buf, or reads them from its
// beginning: the message names its fields once, for both.
type coder struct {
	reading bool
	buf     []byte
	err     error
}

var errShort = errors.New("message ends early")

// appendFrame appends m's frame to b.
func appendFrame(b []byte, m Message) []byte {
	at := len(b)
	b = append(b, 0, 0, 0, 0, m.kind())
	c := coder{buf: b}
	m.fields(&c)
	binary.LittleEndian.PutUint32(c.buf[at:], uint32(len(c.buf)-at-4))
	return c.buf
}

// decode reads a frame's kind and fields. The message may refer to b.
func decode(b []byte) (Message, error) {
	if len(b) == 0 {
		return nil, errShort
	}
	if b[0] == 0 || int(b[0]) >= len(makers) {
		return nil, fmt.Errorf("unknown kind of message %d", b[0])
	}
	m := makers[b[0]]()
	c := coder{reading: true, buf: b[1:]}
	m.fields(&c)
	if c.err == nil && len(c.buf) > 0 {
		c.err = fmt.Errorf("%d bytes too many", len(c.buf))
	}
	if c.err != nil {
		return nil, fmt.Errorf("%T: %w", m, c.err)
	}
	return m, nil
}

// take returns the next n bytes, nil when there are fewer.
func (c *coder) take(n int) []byte {
	if c.err == nil && n > len(c.buf) {
		c.err = errShort
	}
	if c.err != nil {
		return nil
	}
	b := c.buf[:n:n]
	c.buf = c.buf[n:]
	return b
}

func (c *coder) long(v *int64) {
	if !c.reading {
		c.buf = binary.LittleEndian.AppendUint64(c.buf, uint64(*v))
	} else if b := c.take(8); b != nil {
		*v = int64(binary.LittleEndian.Uint64(b))
	}
}

func (c *coder) number(v *int) {
	n := int64(*v)
	c.long(&n)
	*v = int(n)
}

func (c *coder) flag(v *bool) {
	var n int64
	if *v {
		n = 1
	}
	c.long(&n)
	if n != 0 && n != 1 && c.err == nil {
		c.err = fmt.Errorf("%d is neither true nor false", n)
	}
	*v = n == 1
}

// count writes n, or reads how many elements follow, each of them at least least
// bytes long.
func (c *coder) count(n, least int) int {
	if !c.reading {
		c.buf = binary.LittleEndian.AppendUint32(c.buf, uint32(n))
		return n
	}
	b := c.take(4)
	if b == nil {
		return 0
	}
	n = int(binary.LittleEndian.Uint32(b))
	if n > len(c.buf)/least {
		c.err = errShort
		return 0
	}
	return n
}

func (c *coder) bytes(v *[]byte) {
	n := c.count(len(*v), 1)
	if c.reading {
		*v = c.take(n)
	} else {
		c.buf = append(c.buf, *v...)
	}
}

func (c *coder) text(v *string) {
	n := c.count(len(*v), 1)
	if c.reading {
		*v = string(c.take(n))
	} else {
		c.buf = append(c.buf, *v...)
	}
}

func (c *coder) texts(v *[]string) {
	n := c.count(len(*v), 4)
	if c.reading {
		*v = make([]string, n)
	}
	for i := range *v {
		c.text(&(*v)[i])
	}
}
