package shm

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport"
)

// An outbox is the sending side of the ring to one peer.
type outbox struct {
	mu   sync.Mutex // held to write a record or to look for room, never while waiting
	ring *producer  // nil before the first Send
	want *atomic.Uint64
}

// Send writes msg to the ring, and waits for room where there is none.
func (c *conn) Send(msg []byte) error {
	if err := c.send(msg); err != nil {
		return fmt.Errorf("shm: rank %d: Send of %d bytes: %w", c.peer.rank, len(msg), err)
	}
	return nil
}

func (c *conn) send(msg []byte) error {
	if len(msg) > transport.MaxMessage {
		return transport.ErrTooLong
	}
	e := c.peer.endpoint
	if c.closed.Load() || !e.gate.enter() {
		return transport.ErrClosed
	}
	defer e.gate.leave()
	for {
		sent, err := c.peer.offer(msg)
		if err != nil {
			return err
		}
		if sent {
			e.cfg.Ring(c.peer.rank)
			return nil
		}
		if err := c.wait(c.roomToSend); err != nil {
			return err
		}
	}
}

// offer writes msg if there is room.
func (p *peer) offer(msg []byte) (bool, error) {
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	if p.control.closed() {
		return false, transport.ErrClosed
	}
	if p.out.ring == nil {
		if err := p.openRing(); err != nil {
			return false, fmt.Errorf("message ring: %w", err)
		}
	}
	ordered()
	return p.out.ring.offer(msg)
}

// openRing makes the ring and announces it. Called with out.mu held.
func (p *peer) openRing() error {
	m, place, err := p.endpoint.scratch(p.endpoint.ringBytes)
	if err != nil {
		return err
	}
	if err := checkRingSize(len(m.bytes)); err != nil {
		return err
	}
	data := memory{bytes: m.bytes[ringDataAt:], words: m.words[ringDataAt/wordBytes:]}
	p.out.want = &m.words[0]
	p.out.ring = &producer{data: data, head: &m.words[ringHeadAt/wordBytes]}
	p.control.announce(p.endpoint.cfg.Rank, place)
	return nil
}

// room tells whether a waiting Send should try again: the longest record fits, or
// the ring is corrupt. Where it does not fit, the receiver is told to ring; want
// is set before head is looked at again, the receiver looks at them the other way
// round, so one of the two sees the other.
func (o *outbox) room() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ring == nil || o.fits() {
		return true
	}
	if o.want.Load() == 0 {
		o.want.Store(1)
	}
	return o.fits()
}

func (o *outbox) fits() bool {
	return o.ring.look() != nil || o.ring.has(2*recordBytes(transport.MaxMessage))
}
