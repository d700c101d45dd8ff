package shm

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport"
)

// An outbox is the sending side of the ring to one peer.
type outbox struct {
	mu    sync.Mutex // held to write a record or to look for room, never while waiting
	ended bool       // the endpoint is closed: its memory may be gone
	ring  *producer  // nil before the first Send
	want  *atomic.Uint64
}

// Send writes msg to the ring, and waits for room where there is none.
func (c *conn) Send(msg []byte) error {
	if err := c.send(msg); err != nil {
		return fmt.Errorf("shm: rank %d: Send of %d bytes: %w", c.peer.rank, len(msg), err)
	}
	return nil
}

// TrySend is Send if that needs not wait; sent is false when it would.
func (c *conn) TrySend(msg []byte) (sent bool, err error) {
	if len(msg) > transport.MaxMessage {
		err = transport.ErrTooLong
	} else {
		sent, err = c.offer(msg)
	}
	if err != nil {
		return false, fmt.Errorf("shm: rank %d: TrySend of %d bytes: %w", c.peer.rank, len(msg), err)
	}
	if sent {
		c.peer.endpoint.cfg.Ring(c.peer.rank)
	}
	return sent, nil
}

// TryGather is TrySend of head, each word little-endian, and body behind it. false: it
// would wait, or something is wrong; Send tells what.
func (c *conn) TryGather(head [3]uint64, body []byte) (sent bool) {
	out := &c.peer.out
	out.mu.Lock()
	if !out.ended && !c.closed.Load() && !c.peer.control.closed() && out.ring != nil && gathered(body) <= transport.MaxMessage {
		ordered()
		sent = out.ring.gather(&head, body)
	}
	out.mu.Unlock()
	if sent {
		c.peer.endpoint.cfg.Ring(c.peer.rank)
	}
	return sent
}

// send needs no gate while it holds out.mu: Close ends the outbox under it. While
// it waits it is inside the gate, because it looks at shared memory then.
func (c *conn) send(msg []byte) error {
	if len(msg) > transport.MaxMessage {
		return transport.ErrTooLong
	}
	for {
		sent, err := c.offer(msg)
		if err != nil {
			return err
		}
		if sent {
			c.peer.endpoint.cfg.Ring(c.peer.rank)
			return nil
		}
		if err := c.awaitRoom(); err != nil {
			return err
		}
	}
}

func (c *conn) awaitRoom() error {
	g := &c.peer.endpoint.gate
	if !g.enter() {
		return transport.ErrClosed
	}
	defer g.leave()
	return c.wait(c.roomToSend)
}

// offer writes msg if there is room.
func (c *conn) offer(msg []byte) (sent bool, err error) {
	out := &c.peer.out
	out.mu.Lock()
	switch {
	case out.ended || c.closed.Load() || c.peer.control.closed():
		err = transport.ErrClosed
	case out.ring == nil:
		if err = c.peer.openRing(); err != nil {
			err = fmt.Errorf("message ring: %w", err)
			break
		}
		fallthrough
	default:
		ordered()
		sent, err = out.ring.offer(msg)
	}
	out.mu.Unlock()
	return sent, err
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
