package exchange

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// MaxPayload is the longest payload of a member in a round, in bytes.
const MaxPayload = 4096

// The layout of a message, little-endian: kind (4 bytes), 4 bytes of zeros, round
// (8 bytes), then parts until the end. A part is its head and its bytes:
//
//	member (4) signature (4) total (2) offset (2) length (2) zeros (2)
//
// total is the length of the member's whole payload, offset where the part's
// bytes are in it. Every part has bytes, but for the only part of an empty
// payload.
const (
	kindRound = 1
	kindBreak = 2
	headSize  = 16
	partSize  = 16
)

// A part is a piece of what a member publishes.
type part struct {
	member        int
	signature     uint32
	total, offset int
	bytes         []byte
}

// errMalformed is what all complaints about a message's form wrap.
var errMalformed = errors.New("malformed message")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errMalformed, fmt.Sprintf(format, args...))
}

// A Message is one being written.
type Message struct{ buf []byte }

// Begin starts a message of a round in buf, whose capacity bounds it.
func Begin(buf []byte, round uint64) Message {
	buf = append(buf[:0], kindRound, 0, 0, 0, 0, 0, 0, 0)
	return Message{binary.LittleEndian.AppendUint64(buf, round)}
}

// Bytes is the message.
func (m *Message) Bytes() []byte { return m.buf }

// Empty reports whether nothing was added.
func (m *Message) Empty() bool { return len(m.buf) == headSize }

// Add adds as much of a member's payload, from offset on, as there is room for,
// and returns where the next message has to go on. full says that this message
// must be sent first: the payload is not done.
func (m *Message) Add(member int, signature uint32, payload []byte, offset int) (next int, full bool) {
	n := min(len(payload)-offset, cap(m.buf)-len(m.buf)-partSize)
	if n < 0 || n == 0 && offset < len(payload) {
		return offset, true
	}
	m.buf = binary.LittleEndian.AppendUint32(m.buf, uint32(member))
	m.buf = binary.LittleEndian.AppendUint32(m.buf, signature)
	m.buf = binary.LittleEndian.AppendUint16(m.buf, uint16(len(payload)))
	m.buf = binary.LittleEndian.AppendUint16(m.buf, uint16(offset))
	m.buf = binary.LittleEndian.AppendUint16(m.buf, uint16(n))
	m.buf = append(m.buf, 0, 0)
	m.buf = append(m.buf, payload[offset:offset+n]...)
	return offset + n, offset+n < len(payload)
}

// roundOf checks the head of a message and returns what follows it.
func roundOf(msg []byte) (round uint64, parts []byte, err error) {
	if len(msg) < headSize+partSize {
		return 0, nil, malformed("%d bytes", len(msg))
	}
	if kind := binary.LittleEndian.Uint64(msg); kind != kindRound {
		return 0, nil, malformed("kind %#x", kind)
	}
	return binary.LittleEndian.Uint64(msg[8:]), msg[headSize:], nil
}

// nextPart takes the first part off.
func nextPart(b []byte) (p part, rest []byte, err error) {
	if len(b) < partSize {
		return p, nil, malformed("%d bytes behind the last part", len(b))
	}
	p.member = int(binary.LittleEndian.Uint32(b))
	p.signature = binary.LittleEndian.Uint32(b[4:])
	p.total = int(binary.LittleEndian.Uint16(b[8:]))
	p.offset = int(binary.LittleEndian.Uint16(b[10:]))
	n, zeros := int(binary.LittleEndian.Uint16(b[12:])), binary.LittleEndian.Uint16(b[14:])
	b = b[partSize:]
	switch {
	case zeros != 0:
		return p, nil, malformed("%#x where zeros should be", zeros)
	case p.total > MaxPayload:
		return p, nil, malformed("a payload of %d bytes, at most %d are possible", p.total, MaxPayload)
	case n > len(b) || p.offset+n > p.total:
		return p, nil, malformed("a part of %d bytes at offset %d of %d, with %d bytes left", n, p.offset, p.total, len(b))
	case n == 0 && p.total > 0:
		return p, nil, malformed("an empty part of %d bytes", p.total)
	}
	p.bytes = b[:n:n]
	return p, b[n:], nil
}
