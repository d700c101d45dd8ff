package tcp

import (
	"fmt"
	"sync"

	"github.com/golaunch/golaunch/transport"
)

// regions is what peers may touch. A key is never used again, and no two follow
// each other, so that a wrong one is noticed.
type regions struct {
	mu   sync.RWMutex
	last uint64
	open map[uint64][]byte

	landings    map[uint64]*landing
	lastLanding uint64
}

const (
	firstKey = 1 << 24
	keyStep  = 2
)

// find returns n bytes at offset of a region.
func (r *regions) find(key uint64, offset int64, n int) ([]byte, error) {
	r.mu.RLock()
	mem, ok := r.open[key]
	r.mu.RUnlock()
	if !ok {
		return nil, transport.ErrKey
	}
	if offset < 0 || offset > int64(len(mem)) || int64(n) > int64(len(mem))-offset {
		return nil, transport.ErrRange
	}
	return mem[offset : offset+int64(n) : offset+int64(n)], nil
}

func (r *regions) add(mem []byte) (key uint64, ok bool) {
	r.mu.Lock()
	r.last += keyStep
	key = r.last
	r.mu.Unlock()
	return key, r.addAs(key, mem)
}

func (r *regions) addAs(key uint64, mem []byte) (ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		return false
	}
	r.open[key] = mem
	return true
}

func (r *regions) remove(key uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, key)
}

func (r *regions) removeAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open, r.landings = nil, nil
}

// A region is registered memory of this rank.
type region struct {
	endpoint *endpoint
	remote   transport.Remote
}

// Register makes mem reachable. It may be any memory that stays where it is, of
// the heap as well as of the arena; key and offset are not looked at.
func (e *endpoint) Register(_ uint64, _ int64, mem []byte) (transport.Region, error) {
	key, ok := e.regions.add(mem)
	return e.newRegion(key, mem, ok)
}

// RegisterAs is Register under a key that another transport has chosen, so that one
// Remote names the memory over both. An endpoint has all its keys from the same
// one of the two calls.
func (e *endpoint) RegisterAs(key uint64, mem []byte) (transport.Region, error) {
	return e.newRegion(key, mem, e.regions.addAs(key, mem))
}

func (e *endpoint) newRegion(key uint64, mem []byte, added bool) (transport.Region, error) {
	if !added {
		return nil, fmt.Errorf("tcp: rank %d: register %d bytes: %w", e.cfg.Rank, len(mem), transport.ErrClosed)
	}
	return &region{e, transport.Remote{Key: key, Len: int64(len(mem))}}, nil
}

func (r *region) Remote() transport.Remote { return r.remote }

// Close ends the region for frames that arrive later.
func (r *region) Close() error {
	r.endpoint.regions.remove(r.remote.Key)
	return nil
}
