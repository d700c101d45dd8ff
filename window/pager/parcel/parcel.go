package parcel

import (
	"encoding/binary"
	"fmt"

	"github.com/golaunch/golaunch/window/coherence"
)

// Kind says what a parcel is for.
type Kind uint8

const (
	Slots Kind = 1 + iota
	Messages
	Pulse
	Return
	lastKind = Return
)

// MaxBytes is the longest parcel.
const MaxBytes = 4096

// Layout, little-endian: kind u8, zero u8, parcels given back u16, slots given back u16,
// items u16, window u64; the slots, u16 each; the items. An item of Messages is kind u8,
// host u8, content u16, page u32; there is one of Slots, key u64 and bytes u64; and one
// of Pulse, kind u8, host u8, six zeros, and time i64.
const (
	headBytes  = 16
	slotBytes  = 2
	itemBytes  = 8
	otherBytes = 16
)

// Room is how many messages fit into a parcel behind so many slots.
func Room(slots int) int { return (MaxBytes - headBytes - slots*slotBytes) / itemBytes }

// MaxSlots is how many slots a parcel gives back at most.
const MaxSlots = 256

// An Item is a message of the protocol. Its Msg has no From and To, and no Data but
// NoData and Zero; other content is in a slot.
type Item struct {
	Kind coherence.Kind
	Host uint8  // of a request: which 64 bytes of the page it is for, or 255
	Slot uint16 // NoSlot, ZeroSlot, or where the content was put
	Page coherence.Page
}

// What Slot may be beside the number of a slot.
const (
	NoSlot   = 1<<16 - 1
	ZeroSlot = 1<<16 - 2
)

// A Head begins every parcel.
type Head struct {
	Kind   Kind
	Window uint64
	Done   int // parcels given back
}

// Begin appends the beginning of a parcel with so many items.
func Begin(b []byte, h Head, slots []uint16, items int) []byte {
	le := binary.LittleEndian
	b = append(b, byte(h.Kind), 0)
	b = le.AppendUint16(b, uint16(h.Done))
	b = le.AppendUint16(b, uint16(len(slots)))
	b = le.AppendUint16(b, uint16(items))
	b = le.AppendUint64(b, h.Window)
	for _, s := range slots {
		b = le.AppendUint16(b, s)
	}
	return b
}

// AppendItem appends a message.
func AppendItem(b []byte, it Item) []byte {
	le := binary.LittleEndian
	b = append(b, byte(it.Kind), it.Host)
	b = le.AppendUint16(b, it.Slot)
	return le.AppendUint32(b, uint32(it.Page))
}

// AppendSlots appends where pages may be put.
func AppendSlots(b []byte, key, bytes uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, key), bytes)
}

// AppendPulse appends a sign of life.
func AppendPulse(b []byte, p coherence.Pulse) []byte {
	b = append(b, byte(p.Kind), p.Host, 0, 0, 0, 0, 0, 0)
	return binary.LittleEndian.AppendUint64(b, uint64(p.At))
}

// A Parcel is a decoded one. It aliases what was parsed.
type Parcel struct {
	Head
	slots, items []byte
}

// Parse decodes a parcel.
func Parse(b []byte) (p Parcel, err error) {
	if len(b) < headBytes || len(b) > MaxBytes {
		return p, fmt.Errorf("a parcel of %d bytes, want %d to %d", len(b), headBytes, MaxBytes)
	}
	le := binary.LittleEndian
	p.Head = Head{Kind: Kind(b[0]), Done: int(le.Uint16(b[2:])), Window: le.Uint64(b[8:])}
	slots, items := int(le.Uint16(b[4:])), int(le.Uint16(b[6:]))
	size := 0
	switch {
	case b[1] != 0:
		return p, fmt.Errorf("a parcel with %#x where a zero should be", b[1])
	case p.Kind == Messages:
		size = items * itemBytes
	case p.Kind == Slots && items == 1, p.Kind == Pulse && items == 1:
		size = otherBytes
	case p.Kind == Return && items == 0:
	default:
		return p, fmt.Errorf("a parcel of kind %d with %d items", p.Kind, items)
	}
	if want := headBytes + slots*slotBytes + size; len(b) != want {
		return p, fmt.Errorf("a parcel of %d bytes with %d slots and %d items of kind %d, which are %d bytes", len(b), slots, items, p.Kind, want)
	}
	p.slots, p.items = b[headBytes:headBytes+slots*slotBytes], b[headBytes+slots*slotBytes:]
	return p, nil
}

// Freed is how many slots are given back, and Slot is one of them.
func (p *Parcel) Freed() int        { return len(p.slots) / slotBytes }
func (p *Parcel) Slot(i int) uint16 { return binary.LittleEndian.Uint16(p.slots[i*slotBytes:]) }

// Len is how many messages there are, and Item is one of them.
func (p *Parcel) Len() int { return len(p.items) / itemBytes }

func (p *Parcel) Item(i int) Item {
	b := p.items[i*itemBytes:]
	return Item{
		Kind: coherence.Kind(b[0]), Host: b[1],
		Slot: binary.LittleEndian.Uint16(b[2:]), Page: coherence.Page(binary.LittleEndian.Uint32(b[4:])),
	}
}

// Where is what a parcel of Slots says.
func (p *Parcel) Where() (key, bytes uint64) {
	return binary.LittleEndian.Uint64(p.items), binary.LittleEndian.Uint64(p.items[8:])
}

// Pulse is what a parcel of that kind says. Its time is of no meaning to the decoder.
func (p *Parcel) Pulse() coherence.Pulse {
	return coherence.Pulse{
		Kind: coherence.PulseKind(p.items[0]), Host: p.items[1],
		At: coherence.Ticks(binary.LittleEndian.Uint64(p.items[8:])),
	}
}
