//go:build cgo && linux

package verbs

import (
	"encoding/binary"
	"fmt"
)

// A greeting is what each end tells the other, over TCP, before their queue pairs
// are connected.
//
//	dialler                                  listener
//	greeting: its pair, its control page ->
//	                                     <-  greeting: its pair, its directory
//	ready: it can receive                ->
//	                                     <-  ready: what closes will be told
type greeting struct {
	pair, sequence uint32 // of the queue pair; number of the first packet
	lid            uint16 // of the port; 0: none
	ethernet       bool   // RoCE, not InfiniBand
	global         bool   // the port asks for addresses (GRH) in InfiniBand, too
	mtu            uint8  // as an enum ibv_mtu: 5 is 4096
	reads          uint8  // how many Gets and atomics at once
	credits        uint16 // messages that the dialler may send at first; its own is 0
	rkey           uint32
	address        uint64 // of the control page, or of the directory, with rkey
	gid            [16]byte
}

const (
	greetingMagic = 0x31627276 // "vrb1"
	greetingBytes = 48
	maxReads      = 16
	maxMTU        = 5
	lastLID       = 0xbfff // the rest is for many ports at once
)

func (g *greeting) encode() []byte {
	b := make([]byte, 0, greetingBytes)
	le := binary.LittleEndian
	b = le.AppendUint32(b, greetingMagic)
	b = le.AppendUint32(b, g.pair)
	b = le.AppendUint32(b, g.sequence)
	b = le.AppendUint16(b, g.lid)
	b = append(b, g.mtu, g.reads)
	b = le.AppendUint16(b, g.credits)
	b = append(b, bit(g.ethernet), bit(g.global))
	b = le.AppendUint32(b, g.rkey)
	b = le.AppendUint64(b, g.address)
	return append(b, g.gid[:]...)
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// decodeGreeting checks whatever this end could be harmed by.
func decodeGreeting(b []byte) (g greeting, err error) {
	le := binary.LittleEndian
	if len(b) != greetingBytes || le.Uint32(b) != greetingMagic {
		return g, fmt.Errorf("this is no greeting: % x", b[:min(8, len(b))])
	}
	g = greeting{
		pair: le.Uint32(b[4:]), sequence: le.Uint32(b[8:]), lid: le.Uint16(b[12:]), mtu: b[14], reads: b[15],
		credits: le.Uint16(b[16:]), ethernet: b[18] == 1, global: b[19] == 1, rkey: le.Uint32(b[20:]), address: le.Uint64(b[24:]), gid: [16]byte(b[32:48]),
	}
	switch {
	case g.pair >= 1<<24 || g.sequence >= 1<<24:
		return greeting{}, fmt.Errorf("queue pair %#x, packet %#x: more than 24 bits", g.pair, g.sequence)
	case g.mtu < 1 || g.mtu > maxMTU || g.reads < 1 || g.reads > maxReads:
		return greeting{}, fmt.Errorf("MTU %d, %d reads at once: out of range", g.mtu, g.reads)
	case g.credits > maxCredits:
		return greeting{}, fmt.Errorf("credit for %d messages, of %d", g.credits, maxCredits)
	case g.lid > lastLID:
		return greeting{}, fmt.Errorf("LID %#x is no port's", g.lid)
	case b[18] > 1 || b[19] > 1:
		return greeting{}, fmt.Errorf("a port that is % x", b[18:20])
	}
	return g, nil
}
