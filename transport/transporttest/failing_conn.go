package transporttest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport"
)

// A failingEndpoint counts its rank's calls over all its connections.
type failingEndpoint struct {
	transport.Endpoint
	failing    *Failing
	cfg        *transport.Config
	operations atomic.Int64
	messages   atomic.Int64

	mu   sync.Mutex
	late []transport.Completion // failures that the next Polls report
}

func (e *failingEndpoint) Dial(ctx context.Context, rank int, addr []byte) (transport.Conn, error) {
	c, err := e.Endpoint.Dial(ctx, rank, addr)
	if err != nil {
		return nil, err
	}
	return &failingConn{Conn: c, endpoint: e, rank: rank}, nil
}

func (e *failingEndpoint) Poll(done []transport.Completion) (int, error) {
	if err := e.failing.check(e.cfg.Rank, e.cfg.Rank); err != nil {
		return 0, err
	}
	n := e.takeLate(done)
	if n == len(done) {
		return n, nil
	}
	more, err := e.Endpoint.Poll(done[n:])
	return n + more, err
}

func (e *failingEndpoint) takeLate(done []transport.Completion) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := copy(done, e.late)
	e.late = e.late[n:]
	return n
}

func (e *failingEndpoint) addLate(c transport.Completion) {
	e.mu.Lock()
	e.late = append(e.late, c)
	e.mu.Unlock()
	e.cfg.Ring(e.cfg.Rank)
}

type failingConn struct {
	transport.Conn
	endpoint *failingEndpoint
	rank     int
}

// operation runs do unless it is the operation's turn to fail.
func (c *failingConn) operation(op transport.OpID, do func() error) error {
	e := c.endpoint
	if err := e.failing.check(e.cfg.Rank, c.rank); err != nil {
		return err
	}
	fault := e.failing.operation(e.cfg.Rank, int(e.operations.Add(1)))
	if fault == nil {
		return do()
	}
	err := fmt.Errorf("rank %d: operation %d fails: %w", c.rank, fault.Operation, fault.error())
	if fault.Late && op != 0 {
		e.addLate(transport.Completion{Op: op, Rank: c.rank, Err: err})
		return nil
	}
	return err
}

func (c *failingConn) Put(dst transport.Remote, src []byte, op transport.OpID) error {
	return c.operation(op, func() error { return c.Conn.Put(dst, src, op) })
}

func (c *failingConn) Get(dst []byte, src transport.Remote, op transport.OpID) error {
	return c.operation(op, func() error { return c.Conn.Get(dst, src, op) })
}

func (c *failingConn) FetchAdd(dst transport.Remote, delta uint64, old *uint64, op transport.OpID) error {
	return c.operation(op, func() error { return c.Conn.FetchAdd(dst, delta, old, op) })
}

func (c *failingConn) CompareSwap(dst transport.Remote, expect, new uint64, old *uint64, op transport.OpID) error {
	return c.operation(op, func() error { return c.Conn.CompareSwap(dst, expect, new, old, op) })
}

func (c *failingConn) Flush(op transport.OpID) error {
	return c.operation(op, func() error { return c.Conn.Flush(op) })
}

func (c *failingConn) Send(msg []byte) error {
	e := c.endpoint
	if err := e.failing.check(e.cfg.Rank, c.rank); err != nil {
		return err
	}
	if fault := e.failing.message(e.cfg.Rank, int(e.messages.Add(1))); fault != nil {
		return fmt.Errorf("rank %d: message %d fails: %w", c.rank, fault.Message, fault.error())
	}
	return c.Conn.Send(msg)
}
