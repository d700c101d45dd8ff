package rendezvous

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func packets() map[string][]byte {
	ready := ReadyPacket{
		Context: 1 << 63, Tag: 5, ID: 1 << 40, Length: 1 << 33, Address: 0xc000_0000_1000,
		Memory: Place{Key: 3, Offset: 4096, Len: 1 << 33},
		Word:   Place{Key: 4, Offset: 128, Len: 256}, Generation: Generations - 1,
	}
	ahead := ReadyPacket{Tag: 1, ID: 2, Length: 1 << 20, Slot: Slots}
	far := ReadyPacket{Tag: 1<<31 - 1, ID: 2, Length: 1}
	return map[string][]byte{
		"ready":    ready.Append(nil),
		"far":      far.Append(nil),
		"clear":    ClearPacket{ID: 7, Receiver: 8, From: 1 << 40, Place: Place{Key: 1 << 63, Offset: 1, Len: 2}, Last: true}.Append(nil),
		"ahead":    ahead.Append(nil),
		"grant":    GrantPacket{Slot: Slots, Place: Place{Key: 1 << 63, Offset: 2, Len: 3}}.Append(nil),
		"begun":    BegunPacket{ID: 4}.Append(nil),
		"withdraw": WithdrawPacket{ID: 3}.Append(nil),
		"done":     DonePacket{ID: 9, Outcome: Withdrawn}.Append(nil),
	}
}

// again encodes a decoded packet.
func (p Packet) again() []byte {
	switch p.Kind {
	case Ready:
		return p.Ready.Append(nil)
	case Clear:
		return p.Clear.Append(nil)
	case Withdraw:
		return p.Withdraw.Append(nil)
	case Grant:
		return p.Grant.Append(nil)
	case Begun:
		return p.Begun.Append(nil)
	}
	return p.Done.Append(nil)
}

func TestPacketsComeThrough(t *testing.T) {
	for name, b := range packets() {
		p, err := Decode(b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(b, p.again()); diff != "" || len(b) > LongestPacket {
			t.Errorf("%s, %d bytes:\n%s", name, len(b), diff)
		}
		if _, _, _, ok := SplitEager(b); ok {
			t.Errorf("%s passes for an eager message", name)
		}
	}
}

func TestShortAndLongPacketsAreRefused(t *testing.T) {
	for name, b := range packets() {
		for n := range b {
			if _, err := Decode(b[:n]); err == nil {
				t.Errorf("%s cut to %d bytes was accepted", name, n)
			}
		}
		if _, err := Decode(append(b, 0)); err == nil {
			t.Errorf("%s with a byte more was accepted", name)
		}
	}
}

func TestEager(t *testing.T) {
	for _, tag := range []int32{0, 1, 1<<31 - 1} {
		packet := append(make([]byte, EagerBytes), "hello"...)
		PutEager(packet, 1<<40, tag)
		context, got, message, ok := SplitEager(packet)
		if !ok || context != 1<<40 || got != tag || string(message) != "hello" {
			t.Errorf("tag %d: %d, %q, %v", tag, got, message, ok)
		}
	}
	if _, _, _, ok := SplitEager([]byte{byte(Eager)}); ok {
		t.Error("a packet of one byte was accepted")
	}
}

func FuzzDecode(f *testing.F) {
	for _, b := range packets() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Decode(b)
		if err != nil {
			return
		}
		if p.Ready.Length < 0 || p.Ready.Memory.Offset < 0 || p.Ready.Word.Len < 0 || p.Clear.Place.Len < 0 || p.Clear.From+p.Clear.Place.Len < 0 {
			t.Errorf("negative: %+v", p)
		}
		if !bytes.Equal(p.again(), b) {
			t.Errorf("%x decodes to %+v, which is %x", b, p, p.again())
		}
	})
}
