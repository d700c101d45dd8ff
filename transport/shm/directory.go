package shm

import (
	"fmt"
	"math/bits"

	"github.com/golaunch/golaunch/transport"
)

// The directory of a rank's regions lies in chunks of its scratch memory; chunk k
// holds firstSlots<<k slots, so that it grows without moving: peers keep pointers
// into it. A slot is four words: key, segment, offset, length.
//
// A region's key is its slot's number and, above it, how often the slot has been
// used; so the key of a closed region never comes back, and one load of the slot
// tells a peer whether a region is still open.
const (
	firstSlots = 64
	maxChunks  = 16
	maxSlots   = firstSlots * (1<<maxChunks - 1)
	slotWords  = 4

	slotBits = 24
	slotMask = 1<<slotBits - 1
)

// locate returns the chunk that holds a slot, and its place there in words.
//
// Precondition: slot < maxSlots.
func locate(slot int) (chunk, at int) {
	chunk = bits.Len(uint(slot/firstSlots+1)) - 1
	return chunk, (slot - firstSlots*(1<<chunk-1)) * slotWords
}

func chunkBytes(chunk int) int { return firstSlots << chunk * slotWords * wordBytes }

// A directory is the owner's side. Guarded by endpoint.mu.
type directory struct {
	chunks []memory
	keys   []uint64 // of each slot ever used: the last key it had
	free   []int    // slots whose region is closed
}

// open publishes a region and returns its key.
func (d *directory) open(e *endpoint, place transport.Remote) (uint64, error) {
	slot, err := d.claim(e)
	if err != nil {
		return 0, err
	}
	d.keys[slot] += 1 << slotBits
	w := d.slot(slot)
	w[1].Store(place.Key)
	w[2].Store(uint64(place.Offset))
	w[3].Store(uint64(place.Len))
	w[0].Store(d.keys[slot])
	return d.keys[slot], nil
}

// close takes the region with that key out of the directory.
func (d *directory) close(key uint64) {
	slot := int(key & slotMask)
	d.slot(slot)[0].Store(0)
	d.free = append(d.free, slot)
}

// closeAll takes every region out; the directory is not used any more.
func (d *directory) closeAll() {
	for slot := range d.keys {
		d.slot(slot)[0].Store(0)
	}
}

func (d *directory) slot(slot int) slotView {
	chunk, at := locate(slot)
	return slotView(d.chunks[chunk].words[at : at+slotWords])
}

// claim returns an unused slot.
func (d *directory) claim(e *endpoint) (int, error) {
	if last := len(d.free) - 1; last >= 0 {
		slot := d.free[last]
		d.free = d.free[:last]
		return slot, nil
	}
	slot := len(d.keys)
	if slot == maxSlots {
		return 0, fmt.Errorf("%d regions are open, no more fit", slot)
	}
	if chunk, _ := locate(slot); chunk == len(d.chunks) {
		if err := d.grow(e, chunk); err != nil {
			return 0, err
		}
	}
	d.keys = append(d.keys, uint64(slot))
	return slot, nil
}

func (d *directory) grow(e *endpoint, chunk int) error {
	m, place, err := e.scratch(chunkBytes(chunk))
	if err != nil {
		return fmt.Errorf("directory of regions: %w", err)
	}
	d.chunks = append(d.chunks, m)
	e.control.setChunk(chunk, place)
	return nil
}
