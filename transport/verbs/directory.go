//go:build cgo && linux

package verbs

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport"
)

// A directory is where peers look up this rank's regions, by RDMA READ, and keep what
// they find until the count of closed regions changes, which this rank writes to each
// of them. So a look-up costs a round trip the first time and nothing later, and a
// key that was closed is never used: a device that meets a key it does not know ends
// the connection.
//
//	word 0        regions closed since the beginning
//	words 8+4i..  slot i: key, address, length, key of the device
//
// A region's key is its serial number and its slot: one that was closed never comes
// back. A slot's key is written last and cleared first.
type directory struct {
	memory *memory
	words  []uint64

	mu     sync.Mutex
	free   []int
	serial uint64
}

const (
	maxRegions  = 4096 // at once
	slotBytes   = 32
	slotsAt     = 64
	slotBits    = 12
	firstSerial = 0x100
)

func (d *directory) open(p *domain) (err error) {
	if d.memory, err = p.register(make([]byte, slotsAt+maxRegions*slotBytes), true); err != nil {
		return err
	}
	d.init()
	return nil
}

func (d *directory) init() {
	d.words = words(d.memory.mem)
	d.serial = firstSerial
	for i := range maxRegions {
		d.free = append(d.free, maxRegions-1-i)
	}
}

// add publishes a region and returns its key.
func (d *directory) add(address, bytes uint64, rkey uint32) (key uint64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	last := len(d.free) - 1
	if last < 0 {
		return 0, fmt.Errorf("there are %d regions already", maxRegions)
	}
	slot := d.free[last]
	d.free = d.free[:last]
	d.serial++
	key = d.serial<<slotBits | uint64(slot)
	w := d.slot(slot)
	w[1], w[2], w[3] = address, bytes, uint64(rkey)
	atomic.StoreUint64(&w[0], key)
	return key, nil
}

func (d *directory) slot(i int) []uint64 {
	at := (slotsAt + i*slotBytes) / 8
	return d.words[at : at+4]
}

// remove ends a region for look-ups; count ends it for those who have looked.
func (d *directory) remove(key uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	slot := int(key & (maxRegions - 1))
	atomic.StoreUint64(&d.slot(slot)[0], 0)
	d.free = append(d.free, slot)
	atomic.AddUint64(&d.words[0], 1)
}

func (d *directory) close() error {
	if d.memory == nil {
		return nil
	}
	return d.memory.close()
}

// closes is the count of closed regions as peers read it.
func (d *directory) closes() []byte { return d.memory.mem[:8] }

// A descriptor is a peer's region as this rank has found it.
type descriptor struct {
	address uint64
	bytes   int64
	rkey    uint32
}

// holds reports whether n bytes that r names lie in the region.
func (d *descriptor) holds(r transport.Remote, n int) bool {
	return int64(n) <= r.Len && r.Offset >= 0 && int64(n) <= d.bytes && r.Offset <= d.bytes-int64(n)
}

// decodeSlot returns what a slot of a peer's directory says about key. What the peer
// wrote is used for nothing but requests to itself.
func decodeSlot(b []byte, key uint64) (descriptor, error) {
	le := binary.NativeEndian
	d := descriptor{address: le.Uint64(b[8:]), bytes: int64(le.Uint64(b[16:])), rkey: uint32(le.Uint64(b[24:]))}
	if le.Uint64(b) != key || key < firstSerial<<slotBits || d.bytes < 0 {
		return descriptor{}, transport.ErrKey
	}
	return d, nil
}
