package tcp

import (
	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/tcp/wire"
)

// A rank reaches itself without a socket: operations act on its memory, and
// messages go to its own inbox.

// onSelf does one operation and reports it, if op asks for that.
func (c *conn) onSelf(op transport.OpID, operate func() error) (err error) {
	waitErr := c.do(func() bool {
		a := &c.peer.e.arrivals
		if op != 0 && !a.reserve() {
			return false
		}
		ordered()
		err = operate()
		ordered()
		switch {
		case op == 0:
		case err != nil:
			a.cancel()
		default:
			a.complete(transport.Completion{Op: op, Rank: c.peer.rank})
		}
		return true
	})
	if waitErr != nil {
		return waitErr
	}
	return err
}

func (c *conn) putSelf(dst transport.Remote, src []byte, op transport.OpID) error {
	return c.onSelf(op, func() error {
		mem, err := c.peer.e.regions.find(dst.Key, dst.Offset, len(src))
		copy(mem, src)
		return err
	})
}

func (c *conn) getSelf(dst []byte, src transport.Remote, op transport.OpID) error {
	return c.onSelf(op, func() error {
		mem, err := c.peer.e.regions.find(src.Key, src.Offset, len(dst))
		copy(dst, mem)
		return err
	})
}

func (c *conn) atomicSelf(h *wire.Header, operand uint64, old *uint64, op transport.OpID) error {
	return c.onSelf(op, func() error {
		word, err := c.peer.e.word(h.Key, h.Offset)
		if err != nil {
			return err
		}
		value := operateOn(word, h, operand)
		if old != nil {
			*old = value
		}
		return nil
	})
}

func (c *conn) sendSelf(msg []byte) error {
	return c.do(func() bool {
		p := c.peer
		cost := uint32(wire.MessageCost(len(msg)))
		if p.in.used-uint32(p.in.taken.Load())+cost > wire.CreditBytes {
			return false
		}
		p.in.used += cost
		a := &p.e.arrivals
		a.mu.Lock()
		copy(p.in.reserve(len(msg)), msg)
		p.in.commit(len(msg))
		a.announce(p)
		a.mu.Unlock()
		return true
	})
}

// gaveCredit lets the peer have the credit that was given back, when it may be
// waiting for it. Otherwise the next frame tells.
func (p *peer) gaveCredit() {
	if p.self {
		p.changed()
		return
	}
	s := &p.tx
	if !s.creditDue(p) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.pump()
}
