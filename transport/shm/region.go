package shm

import (
	"fmt"
	"sync"

	"github.com/golaunch/golaunch/transport"
)

// A region is registered memory of this rank.
type region struct {
	endpoint *endpoint
	remote   transport.Remote
	once     sync.Once
}

// Register publishes mem in the directory. mem must be what Config.Segment has at
// that place: peers find it there.
func (e *endpoint) Register(key uint64, offset int64, mem []byte) (transport.Region, error) {
	r, err := e.register(transport.Remote{Key: key, Offset: offset, Len: int64(len(mem))}, mem)
	if err != nil {
		return nil, fmt.Errorf("shm: rank %d: register %d bytes at offset %d of segment %#x: %w",
			e.cfg.Rank, len(mem), offset, key, err)
	}
	return r, nil
}

func (e *endpoint) register(place transport.Remote, mem []byte) (*region, error) {
	if !e.gate.enter() {
		return nil, transport.ErrClosed
	}
	defer e.gate.leave()
	there, err := reach(&e.cfg, e.cfg.Rank, place)
	if err != nil {
		return nil, err
	}
	if len(mem) > 0 && &mem[0] != &there[0] {
		return nil, fmt.Errorf("the memory is not that of the segment")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	key, err := e.regions.open(e, place)
	if err != nil {
		return nil, err
	}
	return &region{endpoint: e, remote: transport.Remote{Key: key, Len: place.Len}}, nil
}

func (r *region) Remote() transport.Remote { return r.remote }

// Close ends the region for operations that begin later. Closing again does
// nothing; nor does closing after the endpoint.
func (r *region) Close() error {
	r.once.Do(func() {
		if !r.endpoint.gate.enter() {
			return
		}
		defer r.endpoint.gate.leave()
		r.endpoint.mu.Lock()
		defer r.endpoint.mu.Unlock()
		r.endpoint.regions.close(r.remote.Key)
	})
	return nil
}
