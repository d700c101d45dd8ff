package shm

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport"
)

// A conn is one dialled connection. Several to the same rank share its peer.
type conn struct {
	peer   *peer
	closed atomic.Bool

	// What blocked calls wait for; made once so that waiting allocates nothing.
	roomToSend, roomToReport func() bool
}

func newConn(p *peer) *conn {
	c := &conn{peer: p}
	c.roomToSend = func() bool { return c.ended() || p.control.closed() || p.out.room() }
	c.roomToReport = func() bool { return c.ended() || !p.endpoint.local.full() }
	return c
}

func (c *conn) ended() bool { return c.closed.Load() || c.peer.endpoint.gate.closed() }

// Put copies src into the peer's mapped memory.
func (c *conn) Put(dst transport.Remote, src []byte, op transport.OpID) error {
	if err := c.begin(op); err != nil {
		return c.refuse("Put", dst, len(src), err)
	}
	mem, err := c.peer.memory(dst, len(src))
	if err == nil {
		copy(mem, src)
	}
	if c.end(op, err) {
		return nil
	}
	return c.refuse("Put", dst, len(src), err)
}

// Get copies from the peer's mapped memory.
func (c *conn) Get(dst []byte, src transport.Remote, op transport.OpID) error {
	if err := c.begin(op); err != nil {
		return c.refuse("Get", src, len(dst), err)
	}
	mem, err := c.peer.memory(src, len(dst))
	if err == nil {
		copy(dst, mem)
	}
	if c.end(op, err) {
		return nil
	}
	return c.refuse("Get", src, len(dst), err)
}

// FetchAdd is one CPU instruction on the peer's word.
func (c *conn) FetchAdd(dst transport.Remote, delta uint64, old *uint64, op transport.OpID) error {
	if err := c.begin(op); err != nil {
		return c.refuse("FetchAdd", dst, wordBytes, err)
	}
	word, err := c.word(dst)
	if err == nil {
		ordered()
		earlier := word.Add(delta) - delta
		ordered()
		report(old, earlier)
	}
	if c.end(op, err) {
		return nil
	}
	return c.refuse("FetchAdd", dst, wordBytes, err)
}

// CompareSwap is a CPU compare-and-swap on the peer's word.
func (c *conn) CompareSwap(dst transport.Remote, expect, new uint64, old *uint64, op transport.OpID) error {
	if err := c.begin(op); err != nil {
		return c.refuse("CompareSwap", dst, wordBytes, err)
	}
	word, err := c.word(dst)
	if err == nil {
		ordered()
		earlier := compareSwap(word, expect, new)
		ordered()
		report(old, earlier)
	}
	if c.end(op, err) {
		return nil
	}
	return c.refuse("CompareSwap", dst, wordBytes, err)
}

// compareSwap returns what the word held. The loop goes on only when the word
// changed between the load and the swap.
func compareSwap(word *atomic.Uint64, expect, new uint64) uint64 {
	for {
		if earlier := word.Load(); earlier != expect {
			return earlier
		}
		if word.CompareAndSwap(expect, new) {
			return expect
		}
	}
}

func report(old *uint64, earlier uint64) {
	if old != nil {
		*old = earlier
	}
}

func (c *conn) word(dst transport.Remote) (*atomic.Uint64, error) {
	mem, err := c.peer.memory(dst, wordBytes)
	if err != nil {
		return nil, err
	}
	if word := wordAt(mem); word != nil {
		return word, nil
	}
	return nil, transport.ErrAlign
}

// Flush has nothing to wait for: operations take effect before their calls
// return. Entering the gate is a full fence.
func (c *conn) Flush(op transport.OpID) error {
	err := c.begin(op)
	if err == nil {
		if c.peer.control.closed() {
			err = transport.ErrClosed
		}
		if c.end(op, err) {
			return nil
		}
	}
	return fmt.Errorf("shm: rank %d: Flush: %w", c.peer.rank, err)
}

// Close ends the calls that are blocked on this connection, and later ones.
func (c *conn) Close() error {
	c.closed.Store(true)
	c.peer.endpoint.cfg.Ring(c.peer.endpoint.cfg.Rank)
	return nil
}

// begin enters the gate and, for an operation with an OpID, reserves the place of
// its completion. After nil, end must follow.
func (c *conn) begin(op transport.OpID) error {
	e := c.peer.endpoint
	if c.closed.Load() || !e.gate.enter() {
		return transport.ErrClosed
	}
	if op == 0 || e.local.reserve() {
		return nil
	}
	err := c.awaitPlace()
	if err != nil {
		e.gate.leave()
	}
	return err
}

// awaitPlace waits until a Poll has made room in the completion queue, and
// reserves it.
func (c *conn) awaitPlace() error {
	e := c.peer.endpoint
	e.local.waiting.Add(1)
	defer e.local.waiting.Add(-1)
	for !e.local.reserve() {
		if err := c.wait(c.roomToReport); err != nil {
			return err
		}
	}
	return nil
}

// wait blocks until ready, or until waiting is pointless.
func (c *conn) wait(ready func() bool) error {
	e := c.peer.endpoint
	err := e.cfg.Wait(e.ctx, c.peer.rank, ready)
	if c.ended() {
		return transport.ErrClosed
	}
	return err
}

// end leaves the gate and reports the completion, if one was asked for. false: the
// operation was refused with err and has none.
func (c *conn) end(op transport.OpID, err error) bool {
	e := c.peer.endpoint
	defer e.gate.leave()
	if op == 0 {
		return err == nil
	}
	if err != nil {
		e.local.cancel()
		e.ringWaiting()
		return false
	}
	e.local.push(transport.Completion{Op: op, Rank: c.peer.rank})
	e.cfg.Ring(e.cfg.Rank)
	return true
}

// refuse says what was asked for and why it was not done.
func (c *conn) refuse(what string, r transport.Remote, n int, err error) error {
	where := fmt.Sprintf("shm: rank %d: %s of %d bytes at offset %d of region %#x", c.peer.rank, what, n, r.Offset, r.Key)
	if v := c.peer.views.cached(r.Key); v != nil && errors.Is(err, transport.ErrRange) {
		return fmt.Errorf("%s, %d bytes named of %d: %w", where, r.Len, len(v.mem), err)
	}
	return fmt.Errorf("%s: %w", where, err)
}
