//go:build cgo && linux

package verbs

import (
	"fmt"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport"
)

// A conn is one dialled connection. Several to the same rank share its origin.
type conn struct {
	o      *origin
	closed atomic.Bool
}

var _ transport.Conn = (*conn)(nil)

// end is why nothing can be done on the connection any more, nil if something can.
// Called with o.mu held.
func (c *conn) end() error {
	if c.closed.Load() || c.o.e.closed.Load() {
		return transport.ErrClosed
	}
	return c.o.err
}

// Close ends the calls that are blocked on this connection, and later ones.
func (c *conn) Close() error {
	c.closed.Store(true)
	c.o.e.advance()
	return nil
}

// until tries something, with o.mu held, until it says that it is done. Between, it
// waits for something to have ended.
func (c *conn) until(try func() (done bool, err error)) error {
	o := c.o
	for {
		seen := o.e.gen.Load()
		o.mu.Lock()
		err := c.end()
		done := err != nil
		if !done {
			done, err = try()
		}
		o.mu.Unlock()
		if done || err != nil {
			return err
		}
		if err := o.e.wait(o.rank, seen); err != nil {
			return err
		}
	}
}

// await returns when a request has ended, with its error.
func (c *conn) await(number uint64) error {
	o := c.o
	for {
		seen := o.e.gen.Load()
		o.mu.Lock()
		ended, err := o.head > number, error(nil)
		if ended && number >= o.failed || o.pair == nil {
			ended, err = true, o.err
		}
		o.mu.Unlock()
		if ended {
			return err
		}
		if err := o.e.wait(o.rank, seen); err != nil {
			return err
		}
	}
}

// resolve finds the n bytes that r names at the peer.
func (c *conn) resolve(r transport.Remote, n int) (descriptor, error) {
	d, err := c.descriptor(r.Key)
	if err != nil {
		return d, err
	}
	if !d.holds(r, n) {
		return d, fmt.Errorf("%d bytes named of %d: %w", r.Len, d.bytes, transport.ErrRange)
	}
	d.address += uint64(r.Offset)
	return d, nil
}

// descriptor is what is known about a region of the peer. It is looked up unless it is
// known, and nothing was closed since.
func (c *conn) descriptor(key uint64) (descriptor, error) {
	o := c.o
	o.mu.Lock()
	err := c.end()
	d, ok := o.recall(key)
	o.mu.Unlock()
	if ok || err != nil {
		return d, err
	}
	return c.lookUp(key)
}

// recall returns what is known about a region. Called with mu held.
func (o *origin) recall(key uint64) (d descriptor, ok bool) {
	o.forget()
	if key == o.last && key != 0 {
		return o.lastKnown, true
	}
	if d, ok = o.known[key]; ok {
		o.last, o.lastKnown = key, d
	}
	return d, ok
}

// forget drops what may have been closed. Called with mu held.
func (o *origin) forget() {
	if now := o.closes(); now != o.seen {
		clear(o.known)
		o.last, o.seen = 0, now
	}
}

// lookUp reads the region's slot in the peer's directory.
func (c *conn) lookUp(key uint64) (descriptor, error) {
	o := c.o
	slot := make([]byte, slotBytes)
	r := request{opcode: opRead, remote: o.peer.address + slotsAt + slotBytes*(key&(maxRegions-1)), rkey: o.peer.rkey}
	var number, before uint64
	err := c.until(func() (bool, error) {
		before, number = o.closes(), o.tail
		return c.start(&r, slot, entry{signalled: true})
	})
	if err == nil {
		err = c.await(number)
	}
	if err != nil {
		return descriptor{}, err
	}
	d, err := decodeSlot(slot, key)
	if err != nil {
		return d, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.forget(); o.seen == before {
		o.known[key] = d
	}
	return d, nil
}

// start posts a request with local as its source, or as its destination for a read,
// through a bounce buffer unless it can be done without. done is false when there is
// no room for it. Called with o.mu held.
func (c *conn) start(r *request, local []byte, en entry) (done bool, err error) {
	o := c.o
	if !o.room() {
		return false, nil
	}
	writes := r.opcode == opWrite || r.opcode == opSend
	if r.inlined = writes && 0 < len(local) && len(local) <= o.pair.inline; r.inlined || len(local) == 0 {
		return true, o.post(r, local, 0, en, false)
	}
	p := &o.e.small
	if len(local) > p.bytes {
		p = &o.e.large
	}
	piece, scarce, ok := p.get()
	if !ok {
		return false, nil
	}
	en.pool, en.piece = p, piece
	bounce := p.at(piece, len(local))
	if writes {
		copy(bounce, local)
	} else {
		en.fill = local
	}
	if err := o.post(r, bounce, p.memory.lkey, en, scarce); err != nil {
		p.put(piece)
		return false, err
	}
	return true, nil
}

// reserve takes the place of op's completion.
func (c *conn) reserve(op transport.OpID) error {
	if op == 0 || c.o.e.arrivals.reserve() {
		return nil
	}
	return c.until(func() (bool, error) { return c.o.e.arrivals.reserve(), nil })
}

// cancel gives the place back.
func (c *conn) cancel(op transport.OpID) {
	if op != 0 {
		c.o.e.arrivals.cancel()
		c.o.e.advance()
	}
}

// refuse says what was asked for and why it was not done.
func (c *conn) refuse(what string, r transport.Remote, n int, err error) error {
	return fmt.Errorf("verbs: rank %d: %s of %d bytes at offset %d of region %#x: %w", c.o.rank, what, n, r.Offset, r.Key, err)
}

// Flush has the end of the last request reported: that of those before is known then.
func (c *conn) Flush(op transport.OpID) error {
	err := c.reserve(op)
	if err == nil {
		if err = c.until(func() (bool, error) { return c.flush(op) }); err == nil {
			return nil
		}
		c.cancel(op)
	}
	return fmt.Errorf("verbs: rank %d: Flush: %w", c.o.rank, err)
}

// flush lets the last request, if it is signalled and free, report op, or posts one
// that writes nothing. Called with o.mu held.
func (c *conn) flush(op transport.OpID) (done bool, err error) {
	o := c.o
	last := &o.entries[(o.tail-1)%originDepth]
	switch {
	case op == 0:
	case o.head == o.tail:
		o.e.arrivals.complete(transport.Completion{Op: op, Rank: o.rank})
		o.e.ring()
	case o.signalled == o.tail && last.op == 0:
		last.op = op
	case !o.room():
		return false, nil
	default:
		return true, o.post(&request{opcode: opWrite}, nil, 0, entry{op: op}, false)
	}
	return true, nil
}

// Send copies msg and lets it go when there is credit.
func (c *conn) Send(msg []byte) error {
	if err := c.send(msg); err != nil {
		return fmt.Errorf("verbs: rank %d: Send of %d bytes: %w", c.o.rank, len(msg), err)
	}
	return nil
}

func (c *conn) send(msg []byte) error {
	if len(msg) > transport.MaxMessage {
		return transport.ErrTooLong
	}
	return c.until(func() (bool, error) { return c.trySend(msg) })
}

// TrySend is Send that does not wait: false says that it would have had to.
func (c *conn) TrySend(msg []byte) (sent bool, err error) {
	if len(msg) > transport.MaxMessage {
		err = transport.ErrTooLong
	} else {
		c.o.mu.Lock()
		if err = c.end(); err == nil {
			sent, err = c.trySend(msg)
		}
		c.o.mu.Unlock()
	}
	if err != nil {
		return false, fmt.Errorf("verbs: rank %d: Send of %d bytes: %w", c.o.rank, len(msg), err)
	}
	return sent, nil
}

// trySend sends if there is credit and room. Called with o.mu held.
func (c *conn) trySend(msg []byte) (done bool, err error) {
	if c.o.credit == 0 {
		return false, nil
	}
	done, err = c.start(&request{opcode: opSend}, msg, entry{})
	if done && err == nil {
		c.o.credit--
	}
	return done, err
}
