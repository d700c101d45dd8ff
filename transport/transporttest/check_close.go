package transporttest

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/golaunch/golaunch/transport"
)

var closeChecks = []check{
	{"Close of the endpoint ends a blocked Send with ErrClosed", 2, closeEndsBlockedSend},
	{"Close of the connection ends a blocked Send with ErrClosed", 2, connCloseEndsBlockedSend},
	{"Close of the peer's endpoint ends a blocked Send with ErrClosed", 2, peerCloseEndsBlockedSend},
	{"Close of the endpoint ends a blocked operation with ErrClosed", 2, closeEndsBlockedOperation},
	{"after Close everything is ErrClosed, and Close again does nothing", 2, everythingIsErrClosed},
	{"after Close of the connection everything on it is ErrClosed", 2, everythingOnConnIsErrClosed},
	{"after Close of the peer's endpoint operations on it are ErrClosed", 2, peerIsClosed},
	{"Close while operations and Polls are under way", 3, closeUnderWay},
	{"Dial refuses what cannot be dialled", 2, dialRefuses},
}

// blockedSend returns the result that a Send from rank 0 to rank 1, which does
// not poll, will have; it is blocked already.
func blockedSend(t *testing.T, nodes []*node) <-chan error {
	t.Helper()
	result := make(chan error, 1)
	go func() {
		var sent atomic.Int64
		result <- sendMany(nodes[0].conns[1], manyMessages, &sent)
	}()
	ok(t, nodes[0].job.AwaitBlocked(nodes[0].ctx, 0, 1))
	return result
}

// outcome waits for the result of a blocked call.
func outcome(t *testing.T, ctx context.Context, result <-chan error) error {
	t.Helper()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		t.Fatal("the blocked call did not end")
		return nil
	}
}

func closeEndsBlockedSend(t *testing.T, nodes []*node) {
	result := blockedSend(t, nodes)
	ok(t, nodes[0].endpoint.Close())
	wants(t, transport.ErrClosed, outcome(t, nodes[0].ctx, result), "blocked Send")
}

func connCloseEndsBlockedSend(t *testing.T, nodes []*node) {
	result := blockedSend(t, nodes)
	ok(t, nodes[0].conns[1].Close())
	wants(t, transport.ErrClosed, outcome(t, nodes[0].ctx, result), "blocked Send")
}

func peerCloseEndsBlockedSend(t *testing.T, nodes []*node) {
	result := blockedSend(t, nodes)
	ok(t, nodes[1].endpoint.Close())
	wants(t, transport.ErrClosed, outcome(t, nodes[0].ctx, result), "blocked Send")
}

func closeEndsBlockedOperation(t *testing.T, nodes []*node) {
	n := nodes[0]
	s, err := nodes[1].share(8)
	ok(t, err)
	result := make(chan error, 1)
	go func() {
		for {
			if err := n.conns[1].Put(s.remote, make([]byte, 8), n.newOp()); err != nil {
				result <- err
				return
			}
		}
	}()
	ok(t, n.job.AwaitBlocked(n.ctx, 0, 1))
	ok(t, n.endpoint.Close())
	wants(t, transport.ErrClosed, outcome(t, n.ctx, result), "blocked Put")
}

// calls tries everything there is to do on a connection.
func calls(c transport.Conn, r transport.Remote) map[string]error {
	return map[string]error{
		"Put":         c.Put(r, make([]byte, 8), 1),
		"Get":         c.Get(make([]byte, 8), r, 2),
		"FetchAdd":    c.FetchAdd(r, 1, nil, 3),
		"CompareSwap": c.CompareSwap(r, 0, 1, nil, 4),
		"Send":        c.Send([]byte("too late")),
		"Flush":       c.Flush(5),
	}
}

func everythingIsErrClosed(t *testing.T, nodes []*node) {
	n := nodes[0]
	s, err := nodes[1].share(8)
	ok(t, err)
	key, offset, mem := n.job.Alloc(0, 8)
	ok(t, n.endpoint.Close())
	ok(t, n.endpoint.Close())
	for name, err := range calls(n.conns[1], s.remote) {
		wants(t, transport.ErrClosed, err, "%s", name)
	}
	_, err = n.endpoint.Poll(make([]transport.Completion, 1))
	wants(t, transport.ErrClosed, err, "Poll")
	_, err = n.endpoint.Dial(n.ctx, 1, nodes[1].endpoint.Addr())
	wants(t, transport.ErrClosed, err, "Dial")
	_, err = n.endpoint.Register(key, offset, mem)
	wants(t, transport.ErrClosed, err, "Register")
}

func everythingOnConnIsErrClosed(t *testing.T, nodes []*node) {
	s, err := nodes[1].share(8)
	ok(t, err)
	ok(t, nodes[0].conns[1].Close())
	ok(t, nodes[0].conns[1].Close())
	for name, err := range calls(nodes[0].conns[1], s.remote) {
		wants(t, transport.ErrClosed, err, "%s", name)
	}
	_, err = nodes[0].endpoint.Poll(make([]transport.Completion, 1))
	ok(t, err)
}

// peerIsClosed repeats an operation until the news has arrived.
func peerIsClosed(t *testing.T, nodes []*node) {
	n := nodes[0]
	start(n)
	s, err := nodes[1].share(8)
	ok(t, err)
	ok(t, n.put(1, s.remote, make([]byte, 8)))
	ok(t, nodes[1].endpoint.Close())
	for err = nil; err == nil && n.ctx.Err() == nil; {
		err = n.put(1, s.remote, make([]byte, 8))
	}
	wants(t, transport.ErrClosed, err, "Put")
	wants(t, transport.ErrClosed, n.get(1, make([]byte, 8), s.remote), "Get")
	_, err = n.fetchAdd(1, s.remote, 1)
	wants(t, transport.ErrClosed, err, "FetchAdd")
	wants(t, transport.ErrClosed, n.flush(1), "Flush")
	wants(t, transport.ErrClosed, n.conns[1].Send(nil), "Send")
}

// closeUnderWay closes rank 0 under its own feet and rank 1 under others': calls
// end with nil or ErrClosed and nothing crashes.
func closeUnderWay(t *testing.T, nodes []*node) {
	s, err := nodes[1].share(4096)
	ok(t, err)
	start(nodes...)
	result := make(chan error, 6)
	for i := range cap(result) {
		go func() { result <- untilRefused(nodes[2*(i%2)], s, i) }()
	}
	for range 100 {
		_, err := nodes[2].fetchAdd(1, s.part(0, 8), 1)
		ok(t, err)
	}
	ok(t, nodes[0].endpoint.Close())
	ok(t, nodes[1].endpoint.Close())
	for range cap(result) {
		wants(t, transport.ErrClosed, outcome(t, nodes[0].ctx, result), "operation under way")
	}
}

// untilRefused works on the region of rank 1, in its own part.
func untilRefused(n *node, s shared, i int) error {
	mine := s.part(int64(64*(i+1)), 64)
	for n.ctx.Err() == nil {
		if err := n.conns[1].Put(mine, make([]byte, 64), 0); err != nil {
			return err
		}
		if err := n.conns[1].Get(make([]byte, 64), mine, 0); err != nil {
			return err
		}
		if err := n.conns[1].Send(make([]byte, 100)); err != nil {
			return err
		}
		if err := n.conns[1].Flush(0); err != nil {
			return err
		}
	}
	return n.ctx.Err()
}

func dialRefuses(t *testing.T, nodes []*node) {
	n := nodes[0]
	addr := nodes[1].endpoint.Addr()
	if len(addr) > 256 {
		t.Errorf("the address is %d bytes long, more than 256", len(addr))
	}
	cancelled, cancel := context.WithCancel(n.ctx)
	cancel()
	cases := []struct {
		name string
		ctx  context.Context
		rank int
		addr []byte
	}{
		{"rank -1", n.ctx, -1, addr},
		{"rank past the last", n.ctx, 2, addr},
		{"no address", n.ctx, 1, nil},
		{"half an address", n.ctx, 1, addr[:len(addr)/2]},
		{"zeroes", n.ctx, 1, make([]byte, len(addr))},
		{"the address of another rank", n.ctx, 1, n.endpoint.Addr()},
		{"cancelled", cancelled, 1, addr},
	}
	for _, c := range cases {
		if conn, err := n.endpoint.Dial(c.ctx, c.rank, c.addr); err == nil {
			t.Errorf("%s: Dial succeeded", c.name)
			_ = conn.Close()
		}
	}
}
