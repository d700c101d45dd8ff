package rendezvous

import (
	"encoding/binary"
	"fmt"
	"math"
)

// A Kind is the first byte of what ranks say to each other about messages.
type Kind uint8

// The kinds.
const (
	Eager    Kind = iota + 1 // a whole message
	Ready                    // a message is to be fetched, or cleared
	Clear                    // here is where to Put a part of the message
	Withdraw                 // the message was not sent after all
	Done                     // over, in one way or another
	Grant                    // here is room for the beginning of some message
	Begun                    // the beginning of the message is there
)

// Every packet begins with the kind, 3 bytes of zero and the tag, and the context:
// which communicator it belongs to, 0 where that does not matter.
const (
	// EagerBytes stand before an eager message.
	EagerBytes = 16
	// LongestPacket is the length of the longest packet that is not eager.
	LongestPacket = readyBytes

	readyBytes = 88
	clearBytes = 64
	idBytes    = 24
	grantBytes = 48
	doneBytes  = 32
)

// EagerHead is the head of an eager message: two little-endian words.
func EagerHead(context uint64, tag int32) (first, second uint64) {
	return uint64(Eager) | uint64(uint32(tag))<<32, context
}

// PutEager writes the head of an eager message to dst.
//
// Precondition: len(dst) >= EagerBytes.
func PutEager(dst []byte, context uint64, tag int32) {
	first, second := EagerHead(context, tag)
	binary.LittleEndian.PutUint64(dst, first)
	binary.LittleEndian.PutUint64(dst[8:], second)
}

// SplitEager returns the parts of an eager message. false: it is another packet.
func SplitEager(packet []byte) (context uint64, tag int32, message []byte, ok bool) {
	if len(packet) < EagerBytes {
		return 0, 0, nil, false
	}
	head := binary.LittleEndian.Uint64(packet)
	tag = int32(head >> 32)
	return binary.LittleEndian.Uint64(packet[8:]), tag, packet[EagerBytes:], uint32(head) == uint32(Eager) && tag >= 0
}

// A Place is memory as the rank that owns it names it: an extent of its arena, or
// a region of its transport.
type Place struct {
	Key         uint64
	Offset, Len int64
}

// A ReadyPacket announces a message.
type ReadyPacket struct {
	Context uint64
	Tag     int32
	ID      uint64 // of the sender's operation
	Length  int64  // of the message
	// Address is where the message lies in the sender's address space, 0 if nobody
	// may read it there.
	Address uint64
	// Memory is where it lies in the sender's arena. Len 0: it does not.
	Memory Place
	// Word is the rendezvous' word and what goes with it, in the sender's arena.
	// Len 0: the receiver shares no memory with the sender, and clears.
	Word       Place
	Generation uint32
	// Staged says that the message is being copied to where Word is, and that the
	// sender waits for nothing.
	Staged bool
	// Slot says which of the slots that the receiver has granted the beginning of the
	// message is Put into, behind this packet. 0: none.
	Slot uint8
}

// Append appends the packet.
func (p ReadyPacket) Append(dst []byte) []byte {
	dst = head(dst, Ready, p.Tag, p.Context)
	dst = words(dst, p.ID, uint64(p.Length), p.Address, p.Memory.Key, uint64(p.Memory.Offset), p.Word.Key, uint64(p.Word.Offset))
	dst = binary.LittleEndian.AppendUint32(dst, flag(p.Memory.Len > 0)|flag(p.Word.Len > 0)<<1|flag(p.Staged)<<2|uint32(p.Slot)<<3)
	dst = binary.LittleEndian.AppendUint32(dst, p.Generation)
	return words(dst, uint64(p.Word.Len))
}

// A ClearPacket tells a sender to Put a part of its message, and then to say Done.
type ClearPacket struct {
	ID       uint64 // of the sender's operation
	Receiver uint64 // of the receiver's operation
	From     int64  // where the part begins in the message
	Place    Place  // where it goes, Len bytes
	Last     bool   // no other part is wanted
}

// Append appends the packet.
func (p ClearPacket) Append(dst []byte) []byte {
	dst = words(head(dst, Clear, 0, 0), p.ID, p.Receiver, p.Place.Key, uint64(p.Place.Offset), uint64(p.Place.Len))
	return words(dst, uint64(p.From)<<1|uint64(flag(p.Last)))
}

// A WithdrawPacket takes a message back that was announced.
type WithdrawPacket struct {
	ID uint64 // of the sender's operation
}

// Append appends the packet.
func (p WithdrawPacket) Append(dst []byte) []byte { return words(head(dst, Withdraw, 0, 0), p.ID) }

// A DonePacket ends an operation of the other side.
type DonePacket struct {
	ID      uint64 // of the operation
	Outcome Outcome
}

// Append appends the packet.
func (p DonePacket) Append(dst []byte) []byte {
	return words(head(dst, Done, 0, 0), p.ID, uint64(p.Outcome))
}

// Slots is how many a receiver has for the beginnings of one sender's messages. They have
// the numbers from 1 on.
const Slots = 2

// A GrantPacket lets a sender Put the beginning of one message into a slot.
type GrantPacket struct {
	Slot  uint8
	Place Place
}

// Append appends the packet.
func (p GrantPacket) Append(dst []byte) []byte {
	return words(head(dst, Grant, 0, 0), uint64(p.Slot), p.Place.Key, uint64(p.Place.Offset), uint64(p.Place.Len))
}

// A BegunPacket follows the beginning of a message that was Put into a slot.
type BegunPacket struct {
	ID uint64 // of the sender's operation
}

// Append appends the packet.
func (p BegunPacket) Append(dst []byte) []byte { return words(head(dst, Begun, 0, 0), p.ID) }

// A Packet is any packet but an eager message, decoded: the field of its Kind is
// set.
type Packet struct {
	Kind     Kind
	Ready    ReadyPacket
	Clear    ClearPacket
	Withdraw WithdrawPacket
	Done     DonePacket
	Grant    GrantPacket
	Begun    BegunPacket
}

// Decode checks what a peer sent. Lengths and offsets are not negative afterwards;
// whether they lie inside anything is not known here.
func Decode(packet []byte) (Packet, error) {
	if len(packet) < EagerBytes {
		return Packet{}, fmt.Errorf("a packet of %d bytes", len(packet))
	}
	first := binary.LittleEndian.Uint64(packet)
	p := Packet{Kind: Kind(first)}
	context := binary.LittleEndian.Uint64(packet[8:])
	r := reader{rest: packet[EagerBytes:]}
	var want int
	switch p.Kind {
	case Ready:
		want, p.Ready = readyBytes, r.ready(context, int32(first>>32))
	case Clear:
		want, p.Clear = clearBytes, r.clear()
	case Withdraw:
		want, p.Withdraw = idBytes, WithdrawPacket{ID: r.word()}
	case Done:
		want, p.Done = doneBytes, r.done()
	case Grant:
		want, p.Grant = grantBytes, r.grant()
	case Begun:
		want, p.Begun = idBytes, BegunPacket{ID: r.word()}
	default:
		return Packet{}, fmt.Errorf("a packet of unknown kind %d", uint8(p.Kind))
	}
	stray := first&0xffffff00 != 0 || p.Kind != Ready && (first>>32 != 0 || context != 0)
	if len(packet) != want || r.wrong || stray {
		return Packet{}, fmt.Errorf("a packet of kind %d with %d bytes is malformed (% x)", p.Kind, len(packet), packet[:min(len(packet), readyBytes)])
	}
	return p, nil
}

func head(dst []byte, k Kind, tag int32, context uint64) []byte {
	return words(dst, uint64(k)|uint64(uint32(tag))<<32, context)
}

func words(dst []byte, values ...uint64) []byte {
	for _, v := range values {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	return dst
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// A reader takes words from the front. What is missing reads as 0.
type reader struct {
	rest  []byte
	wrong bool
}

func (r *reader) word() uint64 {
	if len(r.rest) < 8 {
		r.wrong, r.rest = true, nil
		return 0
	}
	v := binary.LittleEndian.Uint64(r.rest)
	r.rest = r.rest[8:]
	return v
}

// size is a word that must not be negative.
func (r *reader) size() int64 {
	v := int64(r.word())
	r.wrong = r.wrong || v < 0
	return v
}

func (r *reader) ready(context uint64, tag int32) ReadyPacket {
	p := ReadyPacket{Context: context, Tag: tag, ID: r.word(), Length: r.size(), Address: r.word()}
	p.Memory = Place{Key: r.word(), Offset: r.size()}
	p.Word = Place{Key: r.word(), Offset: r.size()}
	flags := r.word()
	p.Generation = uint32(flags >> 32)
	if flags&1 != 0 {
		p.Memory.Len = p.Length
	}
	p.Word.Len, p.Staged, p.Slot = r.size(), flags&4 != 0, uint8(flags>>3&3)
	r.wrong = r.wrong || tag < 0 || p.Length == 0 || p.Generation >= Generations ||
		flags&0xffffffe0 != 0 || p.Slot > Slots || p.Slot > 0 && p.Word.Len > 0 || flags&2 != 0 != (p.Word.Len > 0) || p.Staged && p.Word.Len < p.Length
	return p
}

func (r *reader) clear() ClearPacket {
	p := ClearPacket{ID: r.word(), Receiver: r.word(), Place: Place{Key: r.word(), Offset: r.size(), Len: r.size()}}
	part := r.word()
	p.From, p.Last = int64(part>>1), part&1 != 0
	r.wrong = r.wrong || p.Place.Len > math.MaxInt64-p.From
	return p
}

func (r *reader) grant() GrantPacket {
	slot := r.word()
	p := GrantPacket{Slot: uint8(slot), Place: Place{Key: r.word(), Offset: r.size(), Len: r.size()}}
	r.wrong = r.wrong || slot == 0 || slot > Slots || p.Place.Len == 0
	return p
}

func (r *reader) done() DonePacket {
	p := DonePacket{ID: r.word()}
	outcome := r.word()
	r.wrong = r.wrong || outcome == 0 || outcome > uint64(Broken)
	p.Outcome = Outcome(outcome)
	return p
}
