package tree

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func samples() []Frame {
	return []Frame{
		{Kind: Greet, Protocol: Protocol, Host: 1 << 63},
		{Kind: Refuse, Text: "no"},
		{Kind: Attach, N: 7},
		{Kind: Accept, N: 10e9},
		{Kind: Beat},
		{Kind: Facts},
		{Kind: Facts, Facts: []Fact{{1, 2, 3, true, false, "it was silent"}, {Host: 4, N: 1}, {Host: 5, Over: true, Dead: true}}},
		{Kind: Moving},
		{Kind: Up, Host: 3, Seq: 4, Ack: 5, Data: []byte("data")},
		{Kind: Up, Host: 3, Seq: 4, Ack: 5},
		{Kind: Down, Host: 3, Ack: 5, Data: []byte{0}},
		{Kind: All, Data: []byte("to all")},
		{Kind: Break},
		{Kind: Resync, Host: 9, Seq: 1, Ack: 2, Path: []Hop{{1, 2}, {9, 1}}},
		{Kind: Reject, Host: 9, Ack: 2, Text: "it was given up"},
	}
}

func TestFrames(t *testing.T) {
	seen := map[Kind]bool{}
	for _, f := range samples() {
		seen[f.Kind] = true
		b := AppendFrame([]byte("before"), &f)
		b = b[len("before"):]
		if n := binary.LittleEndian.Uint32(b); int(n) != len(b)-4 {
			t.Errorf("%+v: length %d of %d", f, n, len(b)-4)
		}
		got, err := Decode(b[4:])
		if diff := cmp.Diff(f, got); diff != "" || err != nil {
			t.Errorf("%+v: %v %s", f, err, diff)
		}
		short := f.Kind != Beat && f.Kind != Break && f.Kind != Moving && f.Kind != Facts && f.Kind != Up && f.Kind != Down && f.Kind != All
		if _, err := Decode(b[4 : len(b)-1]); short && err == nil {
			t.Errorf("%+v is read without its last byte", f)
		}
	}
	if len(seen) != int(kinds)-1 {
		t.Errorf("samples of %d kinds of %d", len(seen), kinds-1)
	}
}

func TestLongestFrames(t *testing.T) {
	fact := Fact{Text: strings.Repeat("x", 1000)}
	for _, f := range []Frame{
		{Kind: Facts, Facts: make([]Fact, MaxFacts)},
		{Kind: Up, Data: make([]byte, MaxData)},
		{Kind: Resync, Path: make([]Hop, maxDepth)},
	} {
		for i := range f.Facts {
			f.Facts[i] = fact
		}
		if n := len(AppendFrame(nil, &f)); n > MaxFrame+4 {
			t.Errorf("kind %d: %d bytes", f.Kind, n)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range samples() {
		f.Add(AppendFrame(nil, &s)[4:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		frame, err := Decode(b)
		if err != nil {
			return
		}
		if again := AppendFrame(nil, &frame)[4:]; !bytes.Equal(again, b) {
			t.Errorf("% x becomes % x", b, again)
		}
		n, r := NewNode(9), NewRoot(1, 1)
		n.FromParent(frame)
		n.FromChild(1, frame, "")
		r.FromChild(1, frame, "")
		n.Out()
		r.Out()
	})
}
