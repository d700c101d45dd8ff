//go:build cgo && linux

package verbs

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/golaunch/golaunch/transport"
)

// newDirectory is one that no device knows.
func newDirectory() *directory {
	d := &directory{memory: &memory{mem: make([]byte, slotsAt+maxRegions*slotBytes)}}
	d.init()
	return d
}

// look reads the slot of a key as a peer does.
func (d *directory) look(key uint64) (descriptor, error) {
	at := slotsAt + slotBytes*int(key%maxRegions)
	return decodeSlot(d.memory.mem[at:at+slotBytes], key)
}

func TestDirectory(t *testing.T) {
	d := newDirectory()
	keys := map[uint64]bool{}
	for round := range 3 {
		var open []uint64
		for i := range maxRegions {
			key, err := d.add(uint64(i), 8, uint32(round))
			check(t, err)
			if keys[key] {
				t.Fatalf("key %#x was given out twice", key)
			}
			keys[key] = true
			open = append(open, key)
			if got, err := d.look(key); err != nil || got != (descriptor{uint64(i), 8, uint32(round)}) {
				t.Fatalf("region %d is found as %+v, %v", i, got, err)
			}
		}
		if _, err := d.add(0, 8, 0); err == nil {
			t.Error("there is room for more than maxRegions")
		}
		for _, key := range open {
			d.remove(key)
			if _, err := d.look(key); !errors.Is(err, transport.ErrKey) {
				t.Fatalf("a region that was closed is found: %v", err)
			}
		}
	}
	if n := binary.NativeEndian.Uint64(d.closes()); n != 3*maxRegions {
		t.Errorf("%d regions were closed and %d are counted", 3*maxRegions, n)
	}
}

// FuzzDecodeSlot: whatever a peer's directory holds, a descriptor has the key that was
// asked for, and no length below 0.
func FuzzDecodeSlot(f *testing.F) {
	d := newDirectory()
	key, _ := d.add(1<<40, 4096, 7)
	at := slotsAt + slotBytes*int(key%maxRegions)
	f.Add(d.memory.mem[at:at+slotBytes], key)
	f.Add(make([]byte, slotBytes), uint64(0))
	f.Fuzz(func(t *testing.T, b []byte, key uint64) {
		if len(b) != slotBytes {
			return
		}
		got, err := decodeSlot(b, key)
		if err == nil && (binary.NativeEndian.Uint64(b) != key || key == 0 || got.bytes < 0) {
			t.Errorf("% x is taken for region %#x: %+v", b, key, got)
		}
	})
}
