package tcp

import (
	"bytes"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/tcp/wire"
)

// putLong lets src leave from where it is, with messages before and behind it unless they
// are nil, and waits until they have.
func (c *conn) putLong(dst transport.Remote, src []byte, op transport.OpID, before, then []byte) error {
	p := c.peer
	var l *largePut
	err := c.do(func() bool {
		if before != nil && (p.makeRoom(len(before)) == nil || !p.tx.credit(wire.MessageCost(len(before)))) {
			return false
		}
		token, at := c.token(), int32(-1)
		lent := then == nil && p.lends(len(src)) && len(src) <= lentPut
		if op != 0 || lent {
			i, ok := c.begin(slot{kind: putSlot, op: op})
			if !ok {
				return false
			}
			if at = int32(i); op != 0 {
				token = i
			}
		}
		if before != nil {
			p.message(before) // there is room
		}
		l = p.tx.newLarge()
		*l = largePut{src: src, dst: dst, token: token, slot: at, lent: lent, then: then}
		if lent {
			p.tx.slots[at].large = l
		}
		p.tx.larges.push(l)
		p.pump()
		return true
	})
	if err != nil {
		return err
	}
	return c.awaitLarge(l)
}

// awaitLarge waits until the socket has taken all of l, and if it is lent the peer. If
// that comes to an end before, what of l has begun to leave is completed from a copy.
func (c *conn) awaitLarge(l *largePut) error {
	p := c.peer
	for {
		p.tx.mu.Lock()
		err := c.end()
		if l.done {
			// What has left is no failure, though the peer may have ended since, and
			// of what has not its completion tells, if there will be one.
			if l.left || l.token&connToken == 0 {
				err = nil
			}
			then := l.then
			p.tx.freeLarge(l)
			p.tx.mu.Unlock()
			if err == nil && then != nil { // there was no room for it
				err = c.send(then)
			}
			return err
		}
		seen := p.state()
		p.tx.mu.Unlock()
		if err == nil {
			err = c.wait(seen)
		}
		if err != nil && c.giveUp(l) {
			return err
		}
	}
}

// giveUp takes l out of the sender. false: it is done meanwhile.
func (c *conn) giveUp(l *largePut) bool {
	p, s := c.peer, &c.peer.tx
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.done {
		return false
	}
	for n := s.larges.count; n > 0; n-- {
		if other := s.larges.pop(); other != l {
			s.larges.push(other)
		}
	}
	if s.bigOf == l {
		p.unlend()
		s.big, s.bigOf = bytes.Clone(s.big), nil
	}
	c.orphan(l)
	s.freeLarge(l)
	p.pump()
	return true
}

// orphan keeps l's slot until nothing the peer says can mean it any more.
func (c *conn) orphan(l *largePut) {
	s := &c.peer.tx
	if l.slot < 0 {
		return
	}
	x := &s.slots[l.slot]
	if x.op != 0 {
		c.peer.e.arrivals.cancel()
	}
	x.silent, x.large = true, nil
	if len(l.src) > 0 { // the last piece, which asks for an Ack, was not made
		s.mustAsk = true
		s.promise(s.lastPut, l.slot, 0)
	}
}

// newLarge and freeLarge keep used ones: a Put allocates nothing.
func (s *sender) newLarge() *largePut {
	last := len(s.freePuts) - 1
	if last < 0 {
		return new(largePut)
	}
	l := s.freePuts[last]
	s.freePuts = s.freePuts[:last]
	return l
}

func (s *sender) freeLarge(l *largePut) {
	*l = largePut{}
	s.freePuts = append(s.freePuts, l)
}
