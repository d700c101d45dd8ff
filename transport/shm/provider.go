package shm

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport"
)

// A Provider opens endpoints over shared memory. The zero value is ready for use.
type Provider struct {
	ringBytes int // of each ring, 0: the default; tests make it small
}

var _ transport.Provider = Provider{}

// Name returns "shm".
func (Provider) Name() string { return "shm" }

// Open makes the endpoint of rank cfg.Rank, which all ranks of the host can dial.
// It needs every function of cfg.
func (p Provider) Open(cfg transport.Config) (transport.Endpoint, error) {
	e, err := p.open(cfg)
	if err != nil {
		return nil, fmt.Errorf("shm: rank %d of %d: open endpoint: %w", cfg.Rank, cfg.Size, err)
	}
	return e, nil
}

func (p Provider) open(cfg transport.Config) (*endpoint, error) {
	if cfg.Rank < 0 || cfg.Rank >= cfg.Size {
		return nil, fmt.Errorf("there is no such rank")
	}
	if cfg.Segment == nil || cfg.Scratch == nil || cfg.Ring == nil || cfg.Wait == nil {
		return nil, fmt.Errorf("the configuration lacks Segment, Scratch, Ring or Wait")
	}
	e := &endpoint{cfg: cfg, ringBytes: p.ringBytes}
	if e.ringBytes == 0 {
		e.ringBytes = ringBytes
	}
	return e, e.init()
}

func (e *endpoint) init() error {
	m, place, err := e.scratch(controlBytes(e.cfg.Size))
	if err != nil {
		return fmt.Errorf("control block: %w", err)
	}
	if e.control, err = makeControl(m.bytes, e.cfg.Size); err != nil {
		return err
	}
	e.address = encodeAddress(e.cfg.Rank, place)
	e.peers = make([]atomic.Pointer[peer], e.cfg.Size)
	e.in = makeReceiver(e.cfg.Size)
	e.gate.init()
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return nil
}
