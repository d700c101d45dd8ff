package wire

import (
	"encoding/binary"
	"fmt"
)

// Version is that of the format. The Welcome has it as its Value; what the ranks
// call their version in the handshake has mostly told them apart before.
const Version = 1

const (
	// HeaderBytes is the length of every frame's header.
	HeaderBytes = 48
	// MaxPiece is the longest payload of a Put and a Data: longer operations are
	// cut, so that other frames can go between.
	MaxPiece = 1 << 20
	// MaxMessage is the longest payload of a Message.
	MaxMessage = 4096
	// WordBytes is the length of what atomics work on.
	WordBytes = 8
)

// A Kind is what a frame is.
type Kind uint8

// The kinds of frames. Requests are served in their order; Data, Value and Refusal
// answer them in that order. A Put that took effect has no answer but Ack.
const (
	Welcome     Kind = 1 + iota // first frame of who accepted a connection: it is in use
	Decline                     // instead of Welcome: it is not, Value says why
	Put                         // payload to Key, Offset
	Get                         // Value bytes of Key, Offset are wanted
	FetchAdd                    // add Value to the word at Key, Offset
	CompareSwap                 // payload replaces the word at Key, Offset if that is Value
	Message                     // payload is for the peer's Poll
	Ack                         // nothing but the numbers every frame has
	Data                        // answers a Get
	Value                       // answers an atomic: the word was Value
	Refusal                     // answers any request that was not done; Value is a Reason
	Goodbye                     // last frame: the endpoint was closed
	kinds
)

var kindNames = [kinds]string{"no frame", "Welcome", "Decline", "Put", "Get", "FetchAdd", "CompareSwap", "Message",
	"Ack", "Data", "Value", "Refusal", "Goodbye"}

// String returns the kind's name.
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// WantAck asks the receiver for an Ack, or any other frame, when everything up to
// this frame has been served.
const WantAck = 1

// The Reasons of a Refusal and a Decline.
const (
	OutOfRange  = 1 // outside the registered region
	UnknownKey  = 2 // no region with that key
	Misaligned  = 3 // an atomic's word is not aligned to 8 bytes
	UseOther    = 4 // Decline: both sides dialled, the other connection is the one
	AlreadyOver = 5 // Decline: there was a connection, which has ended
)

// A Header is one frame's, in order of the wire: little-endian, without gaps.
type Header struct {
	Kind   Kind
	Flags  uint8  // WantAck or 0; two zero bytes follow
	Length uint32 // bytes of payload behind the header
	Seq    uint32 // number of the frame, from 1, in its direction
	Ack    uint32 // the sender has served all frames of the receiver up to this one
	Taken  uint32 // bytes of credit, MessageCost, that the sender has given back so far
	Token  uint32 // of a request, chosen by its sender; the answer has the same
	Key    uint64
	Offset int64
	Value  uint64
}

// Encode writes h to b.
//
// Precondition: len(b) >= HeaderBytes.
func (h *Header) Encode(b []byte) {
	_ = b[HeaderBytes-1]
	binary.LittleEndian.PutUint32(b, uint32(h.Kind)|uint32(h.Flags)<<8)
	binary.LittleEndian.PutUint32(b[4:], h.Length)
	binary.LittleEndian.PutUint32(b[8:], h.Seq)
	binary.LittleEndian.PutUint32(b[12:], h.Ack)
	binary.LittleEndian.PutUint32(b[16:], h.Taken)
	binary.LittleEndian.PutUint32(b[20:], h.Token)
	binary.LittleEndian.PutUint64(b[24:], h.Key)
	binary.LittleEndian.PutUint64(b[32:], uint64(h.Offset))
	binary.LittleEndian.PutUint64(b[40:], h.Value)
}

// AskForAck sets WantAck in an encoded header.
func AskForAck(b []byte) { b[1] |= WantAck }

// Decode reads a header from b and checks what can be checked without knowing the
// connection.
//
// Precondition: len(b) >= HeaderBytes.
func (h *Header) Decode(b []byte) error {
	_ = b[HeaderBytes-1]
	first := binary.LittleEndian.Uint32(b)
	*h = Header{
		Kind: Kind(first), Flags: uint8(first >> 8),
		Length: binary.LittleEndian.Uint32(b[4:]),
		Seq:    binary.LittleEndian.Uint32(b[8:]),
		Ack:    binary.LittleEndian.Uint32(b[12:]),
		Taken:  binary.LittleEndian.Uint32(b[16:]),
		Token:  binary.LittleEndian.Uint32(b[20:]),
		Key:    binary.LittleEndian.Uint64(b[24:]),
		Offset: int64(binary.LittleEndian.Uint64(b[32:])),
		Value:  binary.LittleEndian.Uint64(b[40:]),
	}
	if first>>16 != 0 || h.Flags&^WantAck != 0 || h.Kind == 0 || h.Kind >= kinds {
		return fmt.Errorf("malformed frame: it begins with %#08x, which is no kind and flags", first)
	}
	return h.check()
}

// check tells whether length and value are possible for the kind.
func (h *Header) check() error {
	least, most := h.lengths()
	if h.Length < least || h.Length > most {
		return fmt.Errorf("malformed frame: a %v with %d bytes of payload, which has %d to %d", h.Kind, h.Length, least, most)
	}
	if h.Kind == Get && h.Value > MaxPiece {
		return fmt.Errorf("malformed frame: a Get of %d bytes, more than %d at once", h.Value, MaxPiece)
	}
	return nil
}

func (h *Header) lengths() (least, most uint32) {
	switch h.Kind {
	case Put, Data:
		return 0, MaxPiece
	case Message:
		return 0, MaxMessage
	case CompareSwap:
		return WordBytes, WordBytes
	default:
		return 0, 0
	}
}

// Before tells whether number a comes before b. Numbers wrap around; two that
// are compared are never 2^31 apart, as no connection holds that many frames.
func Before(a, b uint32) bool { return int32(a-b) < 0 }

// CreditBytes is how many bytes of messages a rank keeps for a peer.
const CreditBytes = 64 << 10

// MessageCost is what a message of n bytes takes of the receiver's credit.
func MessageCost(n int) int { return 8 + (n+7)&^7 }
