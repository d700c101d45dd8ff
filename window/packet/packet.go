package packet

import (
	"encoding/binary"
	"fmt"
)

// Kind says what a packet wants.
type Kind uint8

// What an origin asks for. Every one but Accumulate, Cancel and Leave is answered.
const (
	Accumulate Kind = iota + 1 // count elements at disp: op with data
	Fetch                      // the element at disp: op with data; the answer has what it was
	Swap                       // the element at disp: compare with, and replace by, data; the answer has what it was
	Flush                      // answer when everything before has taken effect
	Lock                       // acquire the target's lock in mode
	Cancel                     // stop waiting for the lock that call token asked for: it is answered now
	Unlock                     // release it, when everything before has taken effect
	Enter                      // enter the latch of the range that has the element at disp
	Leave                      // leave it
)

// What a service answers.
const (
	Done    Kind = iota + 16 // what call token asked for is done; data: what it fetches
	Refused                  // it is not, or something before it: data say why
)

// Head is the size of a packet without data, MaxSize that of the longest one: what fits
// into a message of every transport.
const (
	Head    = 24
	MaxSize = 4088
	MaxData = MaxSize - Head
)

// A Packet is one message.
type Packet struct {
	Kind  Kind
	Op    uint8
	Mode  uint8
	Count uint32
	Token uint64
	Disp  uint64
	Data  []byte // at most MaxData bytes
}

// Put writes p's head to the front of dst, which has room for it. The data follow it.
func (p *Packet) Put(dst []byte) {
	dst[0], dst[1], dst[2], dst[3] = byte(p.Kind), p.Op, p.Mode, 0
	binary.LittleEndian.PutUint32(dst[4:], p.Count)
	binary.LittleEndian.PutUint64(dst[8:], p.Token)
	binary.LittleEndian.PutUint64(dst[16:], p.Disp)
}

// Encode appends p to dst.
func (p *Packet) Encode(dst []byte) []byte {
	var head [Head]byte
	p.Put(head[:])
	return append(append(dst, head[:]...), p.Data...)
}

// fields says which kinds there are and which fields each has.
var fields = map[Kind]struct{ op, mode, count, token, disp, data bool }{
	Accumulate: {op: true, count: true, disp: true, data: true},
	Fetch:      {op: true, token: true, disp: true, data: true},
	Swap:       {token: true, disp: true, data: true},
	Flush:      {token: true},
	Lock:       {mode: true, token: true},
	Cancel:     {token: true},
	Unlock:     {token: true},
	Enter:      {token: true, disp: true},
	Leave:      {disp: true},
	Done:       {token: true, data: true},
	Refused:    {token: true, data: true},
}

// Decode reads a packet. Its Data are src's.
func Decode(src []byte) (p Packet, err error) {
	if len(src) < Head || len(src) > MaxSize {
		return Packet{}, fmt.Errorf("a packet of %d bytes, want %d to %d", len(src), Head, MaxSize)
	}
	p = Packet{
		Kind: Kind(src[0]), Op: src[1], Mode: src[2], Count: binary.LittleEndian.Uint32(src[4:]),
		Token: binary.LittleEndian.Uint64(src[8:]), Disp: binary.LittleEndian.Uint64(src[16:]), Data: src[Head:],
	}
	has, known := fields[p.Kind]
	switch {
	case !known:
		return Packet{}, fmt.Errorf("a packet of kind %d, which there is not", p.Kind)
	case src[3] != 0,
		!has.op && p.Op != 0, !has.mode && p.Mode != 0, !has.count && p.Count != 0,
		!has.token && p.Token != 0, !has.disp && p.Disp != 0, !has.data && len(p.Data) > 0:
		return Packet{}, fmt.Errorf("a packet of kind %d with fields that it does not have: % x", p.Kind, src[:Head])
	case has.token && p.Token == 0:
		return Packet{}, fmt.Errorf("a packet of kind %d that nobody waits for", p.Kind)
	}
	return p, nil
}
