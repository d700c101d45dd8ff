package transporttest

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport"
)

type referenceConn struct {
	e, peer *referenceEndpoint
	closed  atomic.Bool
	place   credit // a place among the completions
	buffer  credit // a buffer for a message
}

// A credit is what a call may have to wait for.
type credit struct {
	free  func() bool // under the lock
	ready func() bool // for Config.Wait: takes the lock; true also when the wait is over
}

func newReferenceConn(e, peer *referenceEndpoint) *referenceConn {
	c := &referenceConn{e: e, peer: peer}
	c.place = c.newCredit(func() bool { return len(e.done) < cap(e.done) })
	c.buffer = c.newCredit(func() bool { q := peer.from[e.cfg.Rank]; return q == nil || q.count < len(q.buffers) })
	return c
}

func (c *referenceConn) newCredit(free func() bool) credit {
	return credit{free, func() bool {
		c.e.job.mu.Lock()
		defer c.e.job.mu.Unlock()
		return c.ended() != nil || free()
	}}
}

// locked does something under the lock, once there is credit (nil: none is
// needed). It waits without the lock.
func (c *referenceConn) locked(need *credit, do func() error) error {
	for {
		done, err := c.once(need, do)
		if err != nil {
			return fmt.Errorf("rank %d: %w", c.peer.cfg.Rank, err)
		}
		if done {
			return nil
		}
		if err := c.e.cfg.Wait(c.e.ctx, c.peer.cfg.Rank, need.ready); err != nil && c.ended() == nil {
			return fmt.Errorf("rank %d: %w", c.peer.cfg.Rank, err)
		}
	}
}

func (c *referenceConn) once(need *credit, do func() error) (bool, error) {
	c.e.job.mu.Lock()
	defer c.e.job.mu.Unlock()
	if err := c.ended(); err != nil {
		return false, err
	}
	if need != nil && !need.free() {
		return false, nil
	}
	return true, do()
}

// operate does one operation and reports it, if op asks for that.
func (c *referenceConn) operate(op transport.OpID, do func() error) error {
	if op == 0 {
		return c.locked(nil, do)
	}
	return c.locked(&c.place, func() error {
		if err := do(); err != nil {
			return err
		}
		c.e.done = append(c.e.done, transport.Completion{Op: op, Rank: c.peer.cfg.Rank})
		c.e.awake()
		return nil
	})
}

func (c *referenceConn) ended() error {
	if c.closed.Load() || c.e.closed.Load() || c.peer.closed.Load() {
		return transport.ErrClosed
	}
	return nil
}

func (e *referenceEndpoint) memory(r transport.Remote, n int) ([]byte, error) {
	mem, ok := e.regions[r.Key]
	if !ok {
		return nil, transport.ErrKey
	}
	whole := transport.Remote{Len: int64(len(mem))}
	if _, err := whole.Slice(r.Offset, int64(n)); err != nil || int64(n) > r.Len {
		return nil, transport.ErrRange
	}
	return mem[r.Offset : r.Offset+int64(n)], nil
}

func (c *referenceConn) Put(dst transport.Remote, src []byte, op transport.OpID) error {
	return c.operate(op, func() error {
		mem, err := c.peer.memory(dst, len(src))
		copy(mem, src)
		return err
	})
}

func (c *referenceConn) Get(dst []byte, src transport.Remote, op transport.OpID) error {
	return c.operate(op, func() error {
		mem, err := c.peer.memory(src, len(dst))
		copy(dst, mem)
		return err
	})
}

func (c *referenceConn) FetchAdd(dst transport.Remote, delta uint64, old *uint64, op transport.OpID) error {
	return c.operate(op, func() error {
		return c.peer.update(dst, old, func(word uint64) uint64 { return word + delta })
	})
}

func (c *referenceConn) CompareSwap(dst transport.Remote, expect, new uint64, old *uint64, op transport.OpID) error {
	return c.operate(op, func() error {
		return c.peer.update(dst, old, func(word uint64) uint64 {
			if word == expect {
				return new
			}
			return word
		})
	})
}

func (e *referenceEndpoint) update(dst transport.Remote, old *uint64, f func(uint64) uint64) error {
	mem, err := e.memory(dst, 8)
	if err != nil {
		return err
	}
	if dst.Offset%8 != 0 {
		return transport.ErrAlign
	}
	word := binary.NativeEndian.Uint64(mem)
	binary.NativeEndian.PutUint64(mem, f(word))
	if old != nil {
		*old = word
	}
	return nil
}

func (c *referenceConn) Send(msg []byte) error {
	if len(msg) > transport.MaxMessage {
		return fmt.Errorf("rank %d: Send of %d bytes: %w", c.peer.cfg.Rank, len(msg), transport.ErrTooLong)
	}
	return c.locked(&c.buffer, func() error { return c.add(msg) })
}

// TrySend is Send that gives up where that waits.
func (c *referenceConn) TrySend(msg []byte) (sent bool, err error) {
	if len(msg) > transport.MaxMessage {
		return false, fmt.Errorf("rank %d: TrySend of %d bytes: %w", c.peer.cfg.Rank, len(msg), transport.ErrTooLong)
	}
	return c.once(&c.buffer, func() error { return c.add(msg) })
}

// PutSend gains nothing here.
func (c *referenceConn) PutSend(dst transport.Remote, src, msg []byte) error {
	if err := c.Put(dst, src, 0); err != nil {
		return err
	}
	return c.Send(msg)
}

// add queues a message.
//
// Precondition: a buffer is free.
func (c *referenceConn) add(msg []byte) error {
	q := &c.peer.from[c.e.cfg.Rank]
	if *q == nil {
		*q = new(messageQueue)
	}
	(*q).add(msg)
	c.peer.awake()
	return nil
}

// Flush has nothing to wait for: operations take effect before their calls
// return.
func (c *referenceConn) Flush(op transport.OpID) error {
	return c.operate(op, func() error { return nil })
}

func (c *referenceConn) Close() error {
	c.closed.Store(true)
	c.e.cfg.Ring(c.e.cfg.Rank)
	return nil
}
