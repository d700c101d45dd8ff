package tcp

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/tcp/wire"
)

// A conn is one dialled connection. Several to the same rank share its peer.
type conn struct {
	peer   *peer
	id     uint32
	closed atomic.Bool
	late   atomic.Pointer[ending] // of an operation without OpID: the next Flush's
}

func (p *peer) newConn() *conn {
	s := &p.tx
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastConn = (s.lastConn + 1) &^ connToken
	c := &conn{peer: p, id: s.lastConn}
	if s.conns == nil {
		s.conns = make(map[uint32]*conn)
	}
	s.conns[c.id] = c
	return c
}

func (c *conn) setLate(err error) { c.late.CompareAndSwap(nil, &ending{err}) }

func (c *conn) takeLate() error {
	if c.late.Load() == nil {
		return nil
	}
	return c.late.Swap(nil).err
}

// end is why nothing can be done on c any more, or nil.
func (c *conn) end() error {
	if c.closed.Load() || c.peer.e.closed.Load() {
		return transport.ErrClosed
	}
	return c.peer.end()
}

// do calls try with the sender's lock until it returns true, and waits in between
// until something has changed.
func (c *conn) do(try func() bool) error {
	p := c.peer
	for {
		seen := p.state() // before try: credit comes without the lock
		p.tx.mu.Lock()
		if err := c.end(); err != nil {
			p.tx.mu.Unlock()
			return err
		}
		if try() {
			p.tx.mu.Unlock()
			p.e.ringIfAny()
			return nil
		}
		p.tx.mu.Unlock()
		if err := c.wait(seen); err != nil {
			return err
		}
	}
}

// begin takes what an operation with an OpID, or one with a slot, needs: the place
// of its completion and the slot. false: there is none.
func (c *conn) begin(s slot) (token uint32, ok bool) {
	p := c.peer
	if p.tx.requests.full() || s.op != 0 && !p.e.arrivals.reserve() {
		return 0, false
	}
	s.conn = c
	return uint32(p.tx.take(s)), true
}

func (c *conn) token() uint32 { return c.id | connToken }

// Put copies a short src behind its header, and it leaves at once unless an Ack is
// on its way. A long one leaves from where it is.
func (c *conn) Put(dst transport.Remote, src []byte, op transport.OpID) error {
	err := transport.ErrRange
	if int64(len(src)) <= dst.Len {
		switch {
		case c.peer.self:
			err = c.putSelf(dst, src, op)
		case len(src) <= c.peer.e.inlineBytes:
			err = c.putShort(dst, src, op)
		default:
			err = c.putLong(dst, src, op, nil, nil)
		}
	}
	if err != nil {
		return c.refuse("Put", dst, len(src), err)
	}
	return nil
}

// togetherBytes is from what length on PutSend sends both with one call, from where they
// are.
const togetherBytes = 1 << 10

// PutSend is a Put without OpID and then a Send, which mostly leave together.
func (c *conn) PutSend(dst transport.Remote, src, msg []byte) error {
	return c.SendPutSend(nil, dst, src, msg)
}

// SendPutSend is a Send, unless before is nil, a Put without OpID and another Send, which
// mostly leave together.
func (c *conn) SendPutSend(before []byte, dst transport.Remote, src, then []byte) error {
	if c.together(before, dst, src, then) {
		if err := c.putLong(dst, src, 0, before, then); err != nil {
			return c.refuse("PutSend", dst, len(src), err)
		}
		return nil
	}
	if before != nil {
		if err := c.Send(before); err != nil {
			return err
		}
	}
	if err := c.Put(dst, src, 0); err != nil {
		return err
	}
	return c.Send(then)
}

func (c *conn) together(before []byte, dst transport.Remote, src, then []byte) bool {
	return !c.peer.self && len(src) >= togetherBytes && !c.peer.e.encrypt && int64(len(src)) <= dst.Len &&
		len(then) > 0 && max(len(before), len(then)) <= transport.MaxMessage
}

func (c *conn) putShort(dst transport.Remote, src []byte, op transport.OpID) error {
	return c.do(func() bool {
		p, s := c.peer, &c.peer.tx
		b := p.makeRoom(len(src))
		if b == nil {
			return false
		}
		token := c.token()
		if op != 0 {
			var ok bool
			if token, ok = c.begin(slot{kind: putSlot, op: op}); !ok {
				return false
			}
		}
		h := wire.Header{Kind: wire.Put, Length: uint32(len(src)), Token: token, Key: dst.Key, Offset: dst.Offset}
		at := len(b.b)
		copy(s.frame(p, b, &h, len(src)), src)
		b.unasked, b.putAt, b.putSeq = true, at, s.seq
		if op != 0 {
			s.promise(s.seq, int32(token), 0)
		}
		s.heed() // before the look: the Ack may come now
		if !s.awaiting() || len(b.b) > gatherBytes {
			p.pump()
		}
		return true
	})
}

// makeRoom is room, after writing what there is if that helps.
func (p *peer) makeRoom(n int) *buffer {
	b := p.tx.room(p, n)
	if b == nil {
		p.pump()
		b = p.tx.room(p, n)
	}
	return b
}

// Get asks for src. A long one is asked for piece by piece, as the pieces arrive.
func (c *conn) Get(dst []byte, src transport.Remote, op transport.OpID) error {
	err := transport.ErrRange
	if int64(len(dst)) <= src.Len {
		if c.peer.self {
			err = c.getSelf(dst, src, op)
		} else {
			err = c.get(dst, src, op)
		}
	}
	if err != nil {
		return c.refuse("Get", src, len(dst), err)
	}
	return nil
}

func (c *conn) get(dst []byte, src transport.Remote, op transport.OpID) error {
	return c.do(func() bool {
		p, s := c.peer, &c.peer.tx
		if s.answers >= maxAnswers || p.makeRoom(0) == nil {
			return false
		}
		token, ok := c.begin(slot{kind: getSlot, op: op, dst: dst, src: src})
		if !ok {
			return false
		}
		if len(dst) <= p.e.pieceBytes {
			p.askForPiece(int32(token))
		} else {
			s.gets.push(int32(token))
		}
		p.pump()
		return true
	})
}

// FetchAdd asks the peer to add, with a CPU atomic.
func (c *conn) FetchAdd(dst transport.Remote, delta uint64, old *uint64, op transport.OpID) error {
	h := wire.Header{Kind: wire.FetchAdd, Key: dst.Key, Offset: dst.Offset, Value: delta}
	if err := c.atomic(&h, 0, dst, old, op); err != nil {
		return c.refuse("FetchAdd", dst, wire.WordBytes, err)
	}
	return nil
}

// CompareSwap asks the peer to swap, with a CPU atomic.
func (c *conn) CompareSwap(dst transport.Remote, expect, new uint64, old *uint64, op transport.OpID) error {
	h := wire.Header{Kind: wire.CompareSwap, Length: wire.WordBytes, Key: dst.Key, Offset: dst.Offset, Value: expect}
	if err := c.atomic(&h, new, dst, old, op); err != nil {
		return c.refuse("CompareSwap", dst, wire.WordBytes, err)
	}
	return nil
}

func (c *conn) atomic(h *wire.Header, operand uint64, dst transport.Remote, old *uint64, op transport.OpID) error {
	if dst.Len < wire.WordBytes {
		return transport.ErrRange
	}
	if c.peer.self {
		return c.atomicSelf(h, operand, old, op)
	}
	return c.do(func() bool {
		p, s := c.peer, &c.peer.tx
		b := p.makeRoom(wire.WordBytes)
		if b == nil || s.answers >= maxAnswers {
			return false
		}
		var ok bool
		if h.Token, ok = c.begin(slot{kind: atomicSlot, op: op, old: old}); !ok {
			return false
		}
		if payload := s.frame(p, b, h, int(h.Length)); len(payload) > 0 {
			binary.LittleEndian.PutUint64(payload, operand)
		}
		s.promise(s.seq, int32(h.Token), 0)
		p.pump()
		return true
	})
}

// Flush has what was gathered leave, and ends when everything asked for before has
// been answered.
func (c *conn) Flush(op transport.OpID) error {
	if err := c.do(func() bool { return c.flush(op) }); err != nil {
		return fmt.Errorf("tcp: rank %d: Flush: %w", c.peer.rank, err)
	}
	return nil
}

func (c *conn) flush(op transport.OpID) bool {
	p, s := c.peer, &c.peer.tx
	if op == 0 {
		p.pump()
		return true
	}
	token, ok := c.begin(slot{kind: flushSlot, op: op})
	if !ok {
		return false
	}
	if s.gets.count > 0 {
		s.gets.push(int32(token))
	} else {
		s.promise(s.lastPut, int32(token), 0)
		s.mustAsk = s.mustAsk || wire.Before(s.asked, s.lastPut) && !s.out.unasked && !s.next.unasked
		s.settle(p)
	}
	p.pump()
	return true
}

// Close ends this conn; the connection to the rank stays.
func (c *conn) Close() error {
	p := c.peer
	c.closed.Store(true)
	p.tx.mu.Lock()
	delete(p.tx.conns, c.id)
	p.changed()
	p.tx.mu.Unlock()
	return nil
}

// refuse says what was asked for and why it was not done.
func (c *conn) refuse(what string, r transport.Remote, n int, err error) error {
	return fmt.Errorf("tcp: rank %d: %s of %d bytes at offset %d of region %#x, %d bytes named: %w",
		c.peer.rank, what, n, r.Offset, r.Key, r.Len, err)
}
