package parcel

import (
	"bytes"
	"testing"

	"github.com/golaunch/golaunch/window/coherence"
)

var items = []Item{
	{coherence.GrantRead, 0, 7, 12},
	{coherence.Located, 3, NoSlot, 1<<32 - 1},
	{coherence.FetchAck, 0, ZeroSlot, 0},
}

// messages is a parcel with everything in it.
func messages() []byte {
	b := Begin(nil, Head{Kind: Messages, Window: 1 << 40, Done: 4}, []uint16{9, 31}, len(items))
	for _, it := range items {
		b = AppendItem(b, it)
	}
	return b
}

func TestMessages(t *testing.T) {
	p, err := Parse(messages())
	if err != nil {
		t.Fatal(err)
	}
	if p.Head != (Head{Messages, 1 << 40, 4}) || p.Freed() != 2 || p.Slot(0) != 9 || p.Slot(1) != 31 || p.Len() != len(items) {
		t.Errorf("parsed as %+v, %d slots, %d items", p.Head, p.Freed(), p.Len())
	}
	for i, want := range items {
		if got := p.Item(i); got != want {
			t.Errorf("item %d is %+v, want %+v", i, got, want)
		}
	}
}

func TestSlotsAndPulse(t *testing.T) {
	p, err := Parse(AppendSlots(Begin(nil, Head{Kind: Slots}, nil, 1), 5, 1<<17))
	if err != nil {
		t.Fatal(err)
	}
	if key, n := p.Where(); key != 5 || n != 1<<17 {
		t.Errorf("slots at %d, %d bytes", key, n)
	}
	want := coherence.Pulse{Kind: coherence.BeatAck, Host: 3, At: -9}
	p, err = Parse(AppendPulse(Begin(nil, Head{Kind: Pulse, Window: 2}, []uint16{1}, 1), want))
	if err != nil || p.Pulse() != want || p.Window != 2 || p.Freed() != 1 {
		t.Errorf("pulse %+v of window %d, %v", p.Pulse(), p.Window, err)
	}
}

// As many messages as there is room for are a parcel that can be sent.
func TestRoom(t *testing.T) {
	for slots := 0; slots <= MaxSlots; slots += 64 {
		b := Begin(nil, Head{Kind: Messages}, make([]uint16, slots), Room(slots))
		for range Room(slots) {
			b = AppendItem(b, items[0])
		}
		if _, err := Parse(b); err != nil || len(b) > MaxBytes || len(b)+itemBytes <= MaxBytes {
			t.Errorf("%d slots: %d bytes, %v", slots, len(b), err)
		}
	}
}

func TestRefused(t *testing.T) {
	good := messages()
	for name, change := range map[string]func(b []byte) []byte{
		"short":            func(b []byte) []byte { return b[:headBytes-1] },
		"cut":              func(b []byte) []byte { return b[:len(b)-1] },
		"too long":         func(b []byte) []byte { return append(b, 0) },
		"of no kind":       func(b []byte) []byte { b[0] = 0; return b },
		"of unknown kind":  func(b []byte) []byte { b[0] = byte(lastKind) + 1; return b },
		"zero not zero":    func(b []byte) []byte { b[1] = 1; return b },
		"too many slots":   func(b []byte) []byte { b[5] = 255; return b },
		"too many items":   func(b []byte) []byte { b[7] = 255; return b },
		"return of items":  func(b []byte) []byte { b[0] = byte(Return); return b },
		"pulse of several": func(b []byte) []byte { b[0] = byte(Pulse); return b },
	} {
		if p, err := Parse(change(bytes.Clone(good))); err == nil {
			t.Errorf("%s: parsed as %+v", name, p.Head)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(messages())
	f.Add(AppendSlots(Begin(nil, Head{Kind: Slots}, nil, 1), 5, 6))
	f.Add(AppendPulse(Begin(nil, Head{Kind: Pulse}, nil, 1), coherence.Pulse{}))
	f.Add(Begin(nil, Head{Kind: Return, Done: 1}, []uint16{1}, 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Parse(b)
		if err != nil {
			return
		}
		var slots []uint16
		for i := range p.Freed() {
			slots = append(slots, p.Slot(i))
		}
		var again []byte
		switch p.Kind {
		case Messages:
			again = Begin(nil, p.Head, slots, p.Len())
			for i := range p.Len() {
				again = AppendItem(again, p.Item(i))
			}
		case Slots:
			again = Begin(nil, p.Head, slots, 1)
			key, n := p.Where()
			again = AppendSlots(again, key, n)
		case Pulse:
			p.Pulse()
			return // six of its bytes mean nothing
		case Return:
			again = Begin(nil, p.Head, slots, 0)
		}
		if !bytes.Equal(again, b) {
			t.Errorf("%x is encoded as %x", b, again)
		}
	})
}
