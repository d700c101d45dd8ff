package member

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// A Meta is what a member says of itself to everybody. It is encoded in MetaSize
// bytes, whatever it says: what changes often, or is long, is asked for elsewhere.
// Metas can be compared.
type Meta struct {
	Control  uint16 // TCP port at which its agent answers; 0: at none
	Slots    uint32 // ranks that it takes
	Cores    uint32
	Memory   uint64 // bytes
	Labels   uint64 // a hash of its labels
	Platform string // operating system and architecture, linux/amd64; at most 16 bytes
	Version  string // of golaunch, at most 32 bytes
	Devices  [4]Device

	life uint64    // drawn at the start of the process
	keys [4]uint32 // its gossip keys, in short
}

// A Device is how many devices of a kind there are. A kind is at most 8 bytes; "":
// there is none.
type Device struct {
	Kind  string
	Count uint16
}

// MetaSize is the length of an encoded Meta in bytes.
const MetaSize = 140

// The encoding, little-endian:
//
//	  0  format, 1
//	  1  nothing, 0
//	  2  Control
//	  4  Slots
//	  8  Cores
//	 12  Memory
//	 20  life
//	 28  Labels
//	 36  keys
//	 52  Platform, zeros behind it
//	 68  Version
//	100  Devices: Kind in 8 bytes, Count
const metaFormat = 1

// encode returns the Meta in bytes, or which text does not fit.
func (m *Meta) encode() ([]byte, error) {
	le, b := binary.LittleEndian, make([]byte, MetaSize)
	b[0] = metaFormat
	le.PutUint16(b[2:], m.Control)
	le.PutUint32(b[4:], m.Slots)
	le.PutUint32(b[8:], m.Cores)
	le.PutUint64(b[12:], m.Memory)
	le.PutUint64(b[20:], m.life)
	le.PutUint64(b[28:], m.Labels)
	for i, k := range m.keys {
		le.PutUint32(b[36+4*i:], k)
	}
	errs := []error{putText(b[52:68], m.Platform), putText(b[68:100], m.Version)}
	for i, d := range m.Devices {
		at := b[100+10*i:]
		le.PutUint16(at[8:], d.Count)
		errs = append(errs, putText(at[:8], d.Kind))
	}
	return b, errors.Join(errs...)
}

// decodeMeta is the reverse. Nothing that encode does not write is taken.
func decodeMeta(b []byte) (Meta, error) {
	switch {
	case len(b) == 0:
		return Meta{}, errors.New("it says nothing of itself")
	case b[0] != metaFormat:
		return Meta{}, fmt.Errorf("what it says of itself has format %d, and this golaunch reads %d", b[0], metaFormat)
	case len(b) != MetaSize || b[1] != 0:
		return Meta{}, fmt.Errorf("what it says of itself is garbled (%d bytes, want %d)", len(b), MetaSize)
	}
	le := binary.LittleEndian
	m := Meta{
		Control: le.Uint16(b[2:]), Slots: le.Uint32(b[4:]), Cores: le.Uint32(b[8:]), Memory: le.Uint64(b[12:]),
		life: le.Uint64(b[20:]), Labels: le.Uint64(b[28:]),
	}
	for i := range m.keys {
		m.keys[i] = le.Uint32(b[36+4*i:])
	}
	errs := []error{getText(b[52:68], &m.Platform), getText(b[68:100], &m.Version)}
	for i := range m.Devices {
		at := b[100+10*i:]
		m.Devices[i].Count = le.Uint16(at[8:])
		errs = append(errs, getText(at[:8], &m.Devices[i].Kind))
	}
	if err := errors.Join(errs...); err != nil {
		return Meta{}, fmt.Errorf("what it says of itself is garbled: %w", err)
	}
	return m, nil
}

func putText(b []byte, text string) error {
	if len(text) > len(b) || !printable(text) {
		return fmt.Errorf("%q does not fit in %d printable bytes", text, len(b))
	}
	copy(b, text)
	return nil
}

func getText(b []byte, text *string) error {
	used := bytes.TrimRight(b, "\x00")
	if !printable(string(used)) {
		return fmt.Errorf("%q is no text", used)
	}
	*text = string(used)
	return nil
}

// printable reports whether a text is ASCII without control characters.
func printable(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}
