package shm

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport"
)

// A slotView is one slot of a region directory: key, segment, offset, length.
type slotView []atomic.Uint64

// A view is a peer's region as this process sees it.
type view struct {
	key  uint64
	live *atomic.Uint64 // the slot's key: equal to key while the region is open
	mem  []byte         // the whole region
}

// views caches the regions of one peer by slot. Reading takes no lock: the table
// is replaced when it grows, its entries when a slot gets a new region.
type views struct {
	table atomic.Pointer[[]atomic.Pointer[view]]

	mu     sync.Mutex // held to fill in
	chunks [maxChunks]memory
}

// cached returns the view with that key if it is known and its region open.
func (v *views) cached(key uint64) *view {
	table := v.table.Load()
	if table == nil || key&slotMask >= uint64(len(*table)) {
		return nil
	}
	found := (*table)[key&slotMask].Load()
	if found == nil || found.key != key || found.live.Load() != key {
		return nil
	}
	return found
}

// resolve finds a region in the peer's directory and caches its view. An error
// wraps ErrKey when the peer has no such region.
func (v *views) resolve(p *peer, key uint64) (*view, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	slot, err := v.slot(p, key)
	if err != nil {
		return nil, err
	}
	place, ok := readSlot(slot, key)
	if !ok {
		return nil, transport.ErrKey
	}
	mem, err := reach(&p.endpoint.cfg, p.rank, place)
	if err != nil {
		return nil, err
	}
	found := &view{key: key, live: &slot[0], mem: mem}
	v.store(found)
	return found, nil
}

// slot returns the directory's slot for key, mapping its chunk when needed.
func (v *views) slot(p *peer, key uint64) (slotView, error) {
	if key&slotMask >= maxSlots {
		return nil, transport.ErrKey
	}
	chunk, at := locate(int(key & slotMask))
	if v.chunks[chunk].words == nil {
		if err := v.mapChunk(p, chunk); err != nil {
			return nil, err
		}
	}
	return slotView(v.chunks[chunk].words[at : at+slotWords]), nil
}

func (v *views) mapChunk(p *peer, chunk int) error {
	place, ok := p.control.chunk(chunk)
	if !ok {
		return transport.ErrKey
	}
	place.Len = int64(chunkBytes(chunk))
	b, err := reach(&p.endpoint.cfg, p.rank, place)
	if err != nil {
		return err
	}
	v.chunks[chunk], err = overlay(b)
	return err
}

// readSlot reads a region's place. false: the slot does not hold that key, or
// another one by the time all is read.
func readSlot(w slotView, key uint64) (transport.Remote, bool) {
	if key == 0 || w[0].Load() != key {
		return transport.Remote{}, false
	}
	place := transport.Remote{
		Key:    w[1].Load(),
		Offset: int64(min(w[2].Load(), math.MaxInt64)),
		Len:    int64(min(w[3].Load(), math.MaxInt64)),
	}
	return place, w[0].Load() == key
}

// store puts a view in the table, which it doubles when needed.
func (v *views) store(found *view) {
	slot := int(found.key & slotMask)
	var old []atomic.Pointer[view]
	if table := v.table.Load(); table != nil {
		old = *table
	}
	if slot >= len(old) {
		table := make([]atomic.Pointer[view], max(firstSlots, 2*len(old), slot+1))
		for i := range old {
			table[i].Store(old[i].Load())
		}
		v.table.Store(&table)
		old = table
	}
	old[slot].Store(found)
}

// within returns the n bytes at r's offset, or ErrRange.
func (v *view) within(r transport.Remote, n int) ([]byte, error) {
	size := int64(len(v.mem))
	if r.Offset < 0 || r.Offset > size || int64(n) > size-r.Offset || int64(n) > r.Len {
		return nil, transport.ErrRange
	}
	return v.mem[r.Offset : r.Offset+int64(n) : r.Offset+int64(n)], nil
}
