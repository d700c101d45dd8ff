package line

import (
	"encoding/binary"
	"fmt"
)

// Kind says what a Frame means.
type Kind uint8

const (
	Hello    Kind = 1 + iota // Body: Greeting; with the leash
	Open                     // Window; Body: Spec
	View                     // Window, First and N: low and high half of the view's base; with its userfaultfd
	Want                     // Window, First, N, Mode; Body: for one page, where in it, u16
	Load                     // Window, First: page, N: offset in it; Body: how many bytes, u16
	Store                    // the same; Body: the bytes
	Swap                     // the same; Body: 8 bytes expected at an aligned offset, 8 bytes in their place
	Figures                  // Window
	Echo                     // Window; a content comes from another host's pager, and goes nowhere
	Shut                     // Window; N: 1 if all ranks of all hosts have agreed to that
	Done                     // answers a request; Body: Load's bytes, or what Swap has found
	Failed                   // answers a request; Body: why
	lastKind = Failed
)

// Mode says what a rank wants pages for.
type Mode uint8

const (
	Read          Mode = iota // a Get waits for them
	Write                     // a Put or an atomic operation waits for them
	PrefetchRead              // they will be read; the answer comes at once
	PrefetchWrite             // they will be written; the answer comes at once
	Evict                     // they are not needed here any more; the answer comes at once
	lastMode      = Evict
)

// A Frame is one packet, or one place of a ring. Which fields mean something depends on Kind.
type Frame struct {
	Kind   Kind
	Mode   Mode
	ID     uint32 // of a request, repeated by its answer
	Window uint64
	First  uint32 // page
	N      uint32 // pages
	Body   []byte
}

// Layout, little-endian: kind u8, mode u8, zero u16, id u32, window u64, first u32,
// n u32, body.
const headSize = 24

// MaxBody is the longest Body.
const MaxBody = 128 << 10

// Append appends f's encoding to b.
func (f *Frame) Append(b []byte) []byte {
	le := binary.LittleEndian
	b = append(b, byte(f.Kind), byte(f.Mode), 0, 0)
	b = le.AppendUint32(b, f.ID)
	b = le.AppendUint64(b, f.Window)
	b = le.AppendUint32(b, f.First)
	b = le.AppendUint32(b, f.N)
	return append(b, f.Body...)
}

// Parse decodes a packet. The Body aliases b.
func Parse(b []byte) (Frame, error) {
	if len(b) < headSize || len(b) > headSize+MaxBody {
		return Frame{}, fmt.Errorf("a packet of %d bytes, want %d to %d", len(b), headSize, headSize+MaxBody)
	}
	le := binary.LittleEndian
	f := Frame{
		Kind: Kind(b[0]), Mode: Mode(b[1]), ID: le.Uint32(b[4:]), Window: le.Uint64(b[8:]),
		First: le.Uint32(b[16:]), N: le.Uint32(b[20:]), Body: b[headSize:],
	}
	switch {
	case f.Kind == 0 || f.Kind > lastKind:
		return Frame{}, fmt.Errorf("a packet of unknown kind %d", f.Kind)
	case f.Mode > lastMode:
		return Frame{}, fmt.Errorf("a packet of unknown mode %d", f.Mode)
	case b[2] != 0 || b[3] != 0:
		return Frame{}, fmt.Errorf("a packet with %#x%02x where zeros should be", b[3], b[2])
	}
	return f, nil
}
