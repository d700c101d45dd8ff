package shm

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport"
)

// An endpoint is one rank's end.
type endpoint struct {
	cfg       transport.Config
	ringBytes int
	control   control
	address   []byte

	gate   gate
	ctx    context.Context // ends with Close, and with it every Wait
	cancel context.CancelFunc

	peers []atomic.Pointer[peer] // by rank, once dialled
	local completions
	in    receiver // Poll's own

	mu      sync.Mutex // held to dial, register and close
	regions directory
	once    sync.Once
}

var (
	_ transport.Endpoint = (*endpoint)(nil)
	_ transport.Mapper   = (*endpoint)(nil)
)

// Addr returns where the control block is.
func (e *endpoint) Addr() []byte { return append([]byte(nil), e.address...) }

// scratch takes n bytes of this rank's scratch memory.
func (e *endpoint) scratch(n int) (memory, transport.Remote, error) {
	b, place, err := e.cfg.Scratch(n)
	if err != nil {
		return memory{}, place, err
	}
	if len(b) < n || place.Len < int64(n) {
		return memory{}, place, fmt.Errorf("asked for %d bytes of scratch memory, got %d", n, len(b))
	}
	place.Len = int64(n)
	m, err := overlay(b[:n:n])
	return m, place, err
}

// Dial maps the control block of a peer, once.
func (e *endpoint) Dial(ctx context.Context, rank int, addr []byte) (transport.Conn, error) {
	p, err := e.dial(ctx, rank, addr)
	if err != nil {
		return nil, fmt.Errorf("shm: rank %d: dial: %w", rank, err)
	}
	return newConn(p), nil
}

func (e *endpoint) dial(ctx context.Context, rank int, addr []byte) (*peer, error) {
	if !e.gate.enter() {
		return nil, transport.ErrClosed
	}
	defer e.gate.leave()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if rank < 0 || rank >= e.cfg.Size {
		return nil, fmt.Errorf("there are ranks 0 to %d", e.cfg.Size-1)
	}
	place, err := decodeAddress(rank, addr)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if p := e.peers[rank].Load(); p != nil {
		return p, nil
	}
	return e.connect(rank, place)
}

// connect maps the peer's control block. Called with mu held.
func (e *endpoint) connect(rank int, place transport.Remote) (*peer, error) {
	b, err := reach(&e.cfg, rank, place)
	if err != nil {
		return nil, err
	}
	p := &peer{rank: rank, endpoint: e}
	if p.control, err = openControl(b, e.cfg.Size); err != nil {
		return nil, err
	}
	e.peers[rank].Store(p)
	return p, nil
}

// Map returns the peer's memory, if the peer was dialled, the region is open and
// r lies inside it.
func (e *endpoint) Map(rank int, r transport.Remote) ([]byte, bool) {
	if rank < 0 || rank >= len(e.peers) || r.Len < 0 || !e.gate.enter() {
		return nil, false
	}
	defer e.gate.leave()
	p := e.peers[rank].Load()
	if p == nil || int64(int(r.Len)) != r.Len {
		return nil, false
	}
	mem, err := p.memory(r, int(r.Len))
	return mem, err == nil
}

// Close waits for the calls under way, which it ends, and tells the peers.
func (e *endpoint) Close() error {
	e.once.Do(func() {
		e.gate.close()
		e.cancel()
		e.cfg.Ring(e.cfg.Rank)
		e.gate.drain()
		e.endSends()
		e.mu.Lock()
		defer e.mu.Unlock()
		e.control.close()
		e.regions.closeAll()
		e.ringSenders()
	})
	return nil
}

// endSends waits for the records being written. No peer is added any more: the gate
// is closed.
func (e *endpoint) endSends() {
	for rank := range e.peers {
		if p := e.peers[rank].Load(); p != nil {
			p.out.mu.Lock()
			p.out.ended = true
			p.out.mu.Unlock()
		}
	}
}

// ringSenders wakes the ranks that may wait for room in their ring to this one.
func (e *endpoint) ringSenders() {
	for rank := range e.cfg.Size {
		if _, ok := e.control.ring(rank); ok {
			e.cfg.Ring(rank)
		}
	}
}
