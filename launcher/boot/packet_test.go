package boot

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPacketRoundTrip(t *testing.T) {
	want := Packet{Protocol: Protocol, Kind: Failed, ID: 7, Rank: -1, Size: 12, Code: -9, Key: 1 << 63, Bytes: -5, Text: "why not"}
	got, err := ParsePacket(want.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAppendCutsLongText(t *testing.T) {
	got, err := ParsePacket(Packet{Kind: Abort, Text: strings.Repeat("x", MaxText+1)}.Append(nil))
	if err != nil || len(got.Text) != MaxText {
		t.Errorf("%d bytes of text, %v", len(got.Text), err)
	}
}

func TestParsePacketRefuses(t *testing.T) {
	good := Packet{Kind: Leave, Text: "x"}.Append(nil)
	spoil := func(at int, v byte) []byte { b := bytes.Clone(good); b[at] = v; return b }
	for name, b := range map[string][]byte{
		"empty":          {},
		"short":          good[:headerSize-1],
		"cut text":       good[:headerSize],
		"text too long":  append(bytes.Clone(good), 'y'),
		"other protocol": spoil(0, Protocol+1),
		"kind 0":         spoil(2, 0),
		"unknown kind":   spoil(2, byte(lastKind)+1),
		"reserved byte":  spoil(3, 1),
	} {
		if p, err := ParsePacket(b); err == nil {
			t.Errorf("%s: parsed as %+v", name, p)
		}
	}
}

// Programs of any two versions must be able to refuse each other.
func TestHelloAndRefusedOfAnotherProtocol(t *testing.T) {
	for _, kind := range []Kind{Hello, Refused} {
		b := Packet{Kind: kind, Text: "9.9"}.Append(nil)
		b[0], b[3] = Protocol+1, 1
		p, err := ParsePacket(b)
		if err != nil || p.Protocol != Protocol+1 || p.Text != "9.9" {
			t.Errorf("kind %d: %+v, %v", kind, p, err)
		}
	}
}

func FuzzParsePacket(f *testing.F) {
	f.Add(Packet{Kind: Hello, Text: Version}.Append(nil))
	f.Add(Packet{Kind: Publish, ID: 1, Key: 3, Bytes: 4096}.Append(nil))
	f.Add(Packet{Kind: Welcome, Rank: 1, Size: 2, Text: "host"}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParsePacket(b)
		if err != nil || p.Protocol != Protocol {
			return
		}
		again, err := ParsePacket(p.Append(nil))
		if diff := cmp.Diff(p, again); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
	})
}
