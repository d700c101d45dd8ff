package tcp

import (
	"encoding/binary"
	"fmt"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/tcp/wire"
)

// Send leaves at once, if the peer has room for it.
//
// When nothing else waits to leave it makes the system call itself: see the package's
// comment.
func (c *conn) Send(msg []byte) error {
	p := c.peer
	p.tx.mu.Lock()
	if b := c.small(len(msg)); b != nil {
		copy(b[wire.HeaderBytes:], msg)
		ordered()
		if n, _ := sendInline(p.fd, b); int(n) < len(b) {
			p.keep(b, int(n))
		}
		p.tx.mu.Unlock()
		p.e.ringIfAny()
		return nil
	}
	p.tx.mu.Unlock()
	err := transport.ErrTooLong
	if len(msg) <= transport.MaxMessage {
		if c.peer.self {
			err = c.sendSelf(msg)
		} else {
			err = c.send(msg)
		}
	}
	if err != nil {
		return fmt.Errorf("tcp: rank %d: Send of %d bytes: %w", c.peer.rank, len(msg), err)
	}
	return nil
}

func (c *conn) send(msg []byte) error { return c.do(func() bool { return c.offer(msg) }) }

// TryGather is TrySend of head, each word little-endian, and a short body behind it.
// false: it would wait, or is no simple matter; Send does it, or tells why not.
func (c *conn) TryGather(head [3]uint64, body []byte) (sent bool) {
	p := c.peer
	p.tx.mu.Lock()
	b := c.small(8*len(head) + len(body))
	if b != nil {
		for i, word := range head {
			binary.LittleEndian.PutUint64(b[wire.HeaderBytes+8*i:], word)
		}
		copy(b[wire.HeaderBytes+8*len(head):], body)
		ordered()
		if n, _ := sendInline(p.fd, b); int(n) < len(b) {
			p.keep(b, int(n))
		}
	}
	p.tx.mu.Unlock()
	p.e.ringIfAny()
	return b != nil
}

// TrySend is Send if that needs not wait; sent is false when it would.
func (c *conn) TrySend(msg []byte) (sent bool, err error) {
	if len(msg) > transport.MaxMessage {
		err = transport.ErrTooLong
	} else {
		sent, err = c.sendNow(msg)
	}
	if err != nil {
		return false, fmt.Errorf("tcp: rank %d: TrySend of %d bytes: %w", c.peer.rank, len(msg), err)
	}
	return sent, nil
}

func (c *conn) sendNow(msg []byte) (sent bool, err error) {
	p := c.peer
	if p.self {
		return false, nil
	}
	p.tx.mu.Lock()
	if err = c.end(); err == nil {
		sent = c.offer(msg)
	}
	p.tx.mu.Unlock()
	p.e.ringIfAny()
	return sent, err
}

// offer sends msg if the peer has room for it. Called with the sender's lock.
func (c *conn) offer(msg []byte) (sent bool) {
	p := c.peer
	if p.makeRoom(len(msg)) == nil || !p.message(msg) {
		return false
	}
	p.pump()
	return true
}

// small returns a frame for a message of n bytes that is nowhere but in the sender's
// small buffer, and leaves at once. nil: it is too long, the peer has no room, something
// else is to be written first or with it, or c has ended. Called with the sender's lock.
func (c *conn) small(n int) (frame []byte) {
	p, s, cost := c.peer, &c.peer.tx, wire.MessageCost(n)
	if n > smallBytes-wire.HeaderBytes || c.end() != nil || !p.idle() || !s.credit(cost) {
		return nil
	}
	s.spent += uint32(cost)
	b := buffer{b: s.smallBuffer[:0]}
	s.frame(p, &b, &wire.Header{Kind: wire.Message, Length: uint32(n)}, n)
	return b.b
}

// idle tells whether nothing is to be written, and nothing else would go with it.
func (p *peer) idle() bool {
	s := &p.tx
	return p.fd >= 0 && !s.blocked.Load() && s.out.b == nil && s.big == nil && s.next.b == nil && s.broken == nil && !s.mustAsk &&
		s.replies.count+s.larges.count+s.gets.count == 0
}

// keep has what is left of a frame leave later.
func (p *peer) keep(b []byte, written int) {
	s := &p.tx
	s.out = buffer{b: append(p.e.sendBuffers.get(), b...), written: max(written, 0)}
	p.pump()
}

// message makes msg a frame, if there is room for it, here and at the peer.
func (p *peer) message(msg []byte) bool {
	s, cost := &p.tx, wire.MessageCost(len(msg))
	if !s.credit(cost) {
		return false
	}
	b := s.room(p, len(msg))
	if b == nil {
		return false
	}
	s.spent += uint32(cost)
	copy(s.frame(p, b, &wire.Header{Kind: wire.Message, Length: uint32(len(msg))}, len(msg)), msg)
	return true
}
