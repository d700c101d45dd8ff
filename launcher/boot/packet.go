package boot

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Kind says what a packet means.
type Kind uint8

// The kinds of packet. Hello to Abort, Address and Report go from the rank to the
// supervisor, the others back.
const (
	Hello    Kind = 1 + iota // Text: version; with a descriptor: the private socket; to a helper: Rank, Key (its proof)
	Publish                  // Key, Bytes; with a descriptor: the segment
	Withdraw                 // Key
	Open                     // Rank, Key
	Leave
	Abort    // Code; Text: reason
	Welcome  // Rank, Size, Bytes: of details to follow; Text: host; with a descriptor: the job's memory
	Refused  // Text: why
	Done     // answers a request; with a descriptor when it was Open or Pager
	Failed   // answers a request; Text: why
	Address  // Rank, Text: its transport address
	Report   // Text: the rank's figures
	More     // behind Welcome; Text: the next part of the details
	Pager    // Key: the number of a host that this supervisor plays; asks for a line to its pager
	lastKind = Pager
)

// MaxText is the longest Text in bytes; Append cuts what is longer.
const MaxText = 2048

// A Packet is one message between a rank and its supervisor. Which fields mean
// something depends on Kind; the layout is the same for all.
type Packet struct {
	Protocol uint16 // Append writes this package's own Protocol
	Kind     Kind
	ID       uint32 // of a request, repeated by its answer
	Rank     int32
	Size     int32
	Code     int32
	Key      uint64
	Bytes    int64
	Text     string
}

// Layout, little-endian: protocol u16, kind u8, zero u8, id u32, rank i32,
// size i32, code i32, length of text u32, key u64, bytes i64, text.
const (
	headerSize = 40
	packetSize = headerSize + MaxText
)

// Append appends p's encoding to b.
func (p Packet) Append(b []byte) []byte {
	text := p.Text[:min(len(p.Text), MaxText)]
	le := binary.LittleEndian
	b = le.AppendUint16(b, Protocol)
	b = append(b, byte(p.Kind), 0)
	b = le.AppendUint32(b, p.ID)
	b = le.AppendUint32(b, uint32(p.Rank))
	b = le.AppendUint32(b, uint32(p.Size))
	b = le.AppendUint32(b, uint32(p.Code))
	b = le.AppendUint32(b, uint32(len(text)))
	b = le.AppendUint64(b, p.Key)
	b = le.AppendUint64(b, uint64(p.Bytes))
	return append(b, text...)
}

// ParsePacket decodes what another process sent. A packet of another protocol is
// an error unless it is Hello or Refused.
func ParsePacket(b []byte) (Packet, error) {
	if len(b) < headerSize {
		return Packet{}, fmt.Errorf("packet of %d bytes, want at least %d", len(b), headerSize)
	}
	le := binary.LittleEndian
	p := Packet{
		Protocol: le.Uint16(b[0:]),
		Kind:     Kind(b[2]),
		ID:       le.Uint32(b[4:]),
		Rank:     int32(le.Uint32(b[8:])),
		Size:     int32(le.Uint32(b[12:])),
		Code:     int32(le.Uint32(b[16:])),
		Key:      le.Uint64(b[24:]),
		Bytes:    int64(le.Uint64(b[32:])),
		Text:     string(b[headerSize:]),
	}
	if n := le.Uint32(b[20:]); int64(n) != int64(len(p.Text)) || n > MaxText {
		return Packet{}, fmt.Errorf("packet with %d bytes of text says it has %d", len(p.Text), n)
	}
	return p, p.check(b[3])
}

func (p Packet) check(reserved byte) error {
	switch {
	case p.Kind == Hello || p.Kind == Refused:
		return nil
	case p.Protocol != Protocol:
		return fmt.Errorf("packet of protocol %d, this program speaks %d", p.Protocol, Protocol)
	case p.Kind == 0 || p.Kind > lastKind:
		return fmt.Errorf("packet of unknown kind %d", p.Kind)
	case reserved != 0:
		return errors.New("packet with a reserved byte set")
	}
	return nil
}
