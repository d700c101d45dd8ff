package transporttest

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/golaunch/golaunch/transport"
)

// TrySend and PutSend promise what Send does, and more: the rules of Send are checked on
// connections whose Send is one of them, and the rest below.

var trySendChecks = []check{
	{"TrySend refuses rather than wait, and sends nothing then", 2, trySendNeverWaits},
	{"TrySend refuses what Send refuses", 2, trySendRefuses},
	{"messages of TrySend arrive whole", 2, sendingBy(trying, messagesOfEveryLength)},
	{"messages of TrySend and Send arrive in their order", 2, sendingBy(trying, messagesKeepTheirOrder)},
	{"the source of a TrySend may be reused at once", 2, sendingBy(trying, sourceOfSendMayBeReused)},
	{"a TrySend is delivered behind every earlier Put", 2, sendingBy(trying, sendIsBehindPut)},
}

var putSendChecks = []check{
	{"a PutSend is delivered behind what it puts, of every length", 2, putSendIsBehindPut},
	{"a PutSend refuses what Put and Send refuse", 2, putSendRefuses},
	{"messages of PutSend arrive whole", 2, sendingBy(putting, messagesOfEveryLength)},
	{"messages of PutSend and Send arrive in their order", 2, sendingBy(putting, messagesKeepTheirOrder)},
	{"a sender of PutSends that outruns its receiver blocks, and goes on when it polls", 2, sendingBy(putting, senderBlocksAndGoesOn)},
	{"Close of the endpoint ends a blocked PutSend with ErrClosed", 2, sendingBy(putting, closeEndsBlockedSend)},
	{"Close of the connection ends a blocked PutSend with ErrClosed", 2, sendingBy(putting, connCloseEndsBlockedSend)},
	{"Close of the peer's endpoint ends a blocked PutSend with ErrClosed", 2, sendingBy(putting, peerCloseEndsBlockedSend)},
}

// sendingBy has every node's Send be something else; false: the connection has no such thing.
func sendingBy(other func(t *testing.T, c transport.Conn, peer *node) (transport.Conn, bool), run func(t *testing.T, nodes []*node)) func(t *testing.T, nodes []*node) {
	return func(t *testing.T, nodes []*node) {
		for _, n := range nodes {
			for rank, c := range n.conns {
				with, has := other(t, c, nodes[rank])
				if !has {
					t.Log("nothing to check")
					return
				}
				n.conns[rank] = with
			}
		}
		run(t, nodes)
	}
}

// tryingConn sends every other message by TrySend, if that does it.
type tryingConn struct {
	transport.Conn
	transport.TrySender
	count int
}

func trying(_ *testing.T, c transport.Conn, _ *node) (transport.Conn, bool) {
	try, has := c.(transport.TrySender)
	return &tryingConn{Conn: c, TrySender: try}, has
}

func (c *tryingConn) Send(msg []byte) error {
	if c.count++; c.count%2 == 0 {
		if sent, err := c.TrySend(msg); sent || err != nil {
			return err
		}
	}
	return c.Conn.Send(msg)
}

// puttingConn sends two of three messages by PutSend, with a short and a long payload.
type puttingConn struct {
	transport.Conn
	transport.PutSender
	dst   transport.Remote
	count int
}

const longPayload = 5000

func putting(t *testing.T, c transport.Conn, peer *node) (transport.Conn, bool) {
	put, has := c.(transport.PutSender)
	if !has {
		return nil, false
	}
	s, err := peer.share(longPayload)
	ok(t, err)
	return &puttingConn{Conn: c, PutSender: put, dst: s.remote}, true
}

func (c *puttingConn) Send(msg []byte) error {
	switch c.count++; c.count % 3 {
	case 0:
		return c.PutSend(c.dst, make([]byte, 8), msg)
	case 1:
		return c.PutSend(c.dst, make([]byte, longPayload), msg)
	}
	return c.Conn.Send(msg)
}

// trySendNeverWaits: nobody polls until TrySend refuses; if it waited, it would do so for ever.
func trySendNeverWaits(t *testing.T, nodes []*node) {
	from, to := nodes[0], nodes[1]
	try, has := from.conns[1].(transport.TrySender)
	if !has {
		t.Log("nothing to check")
		return
	}
	msg, taken := make([]byte, transport.MaxMessage), 0
	tryNext := func() bool {
		binary.LittleEndian.PutUint64(msg, uint64(taken))
		sent, err := try.TrySend(msg)
		ok(t, err)
		if sent {
			taken++
		}
		return sent
	}
	for tryNext() {
		if taken == manyMessages {
			t.Fatalf("%d messages were taken, and nobody polls", taken)
		}
	}
	if taken == 0 {
		t.Error("not even one message was taken")
	}
	start(nodes...)
	for end := taken + 100; taken < end; runtime.Gosched() { // credit comes, and is refused, in between
		tryNext()
		ok(t, from.ctx.Err())
	}
	for k := range taken {
		got, err := to.receive()
		ok(t, err)
		if number := binary.LittleEndian.Uint64([]byte(got.text)); number != uint64(k) || len(got.text) != len(msg) {
			t.Fatalf("message %d of %d bytes arrived in the place of %d", number, len(got.text), k)
		}
	}
	ok(t, from.send(1, "the last one"))
	if got, err := to.receive(); err != nil || got.text != "the last one" {
		t.Errorf("behind them came %d bytes, %v", len(got.text), err)
	}
}

func trySendRefuses(t *testing.T, nodes []*node) {
	start(nodes...)
	n := nodes[0]
	try, has := n.conns[1].(transport.TrySender)
	if !has {
		t.Log("nothing to check")
		return
	}
	refuses := func(target error, length int, what string) {
		t.Helper()
		sent, err := try.TrySend(make([]byte, length))
		wants(t, target, err, "%s", what)
		if sent {
			t.Errorf("%s: it is said to be sent", what)
		}
	}
	refuses(transport.ErrTooLong, transport.MaxMessage+1, "TrySend of too much")
	ok(t, n.send(1, "after"))
	if got, err := nodes[1].receive(); err != nil || got.text != "after" {
		t.Errorf("received %d bytes, %v", len(got.text), err)
	}
	ok(t, n.conns[1].Close())
	refuses(transport.ErrClosed, 1, "TrySend on a closed Conn")
	again, err := n.endpoint.Dial(n.ctx, 1, nodes[1].endpoint.Addr())
	ok(t, err)
	try = again.(transport.TrySender)
	n.stop()
	ok(t, n.endpoint.Close())
	refuses(transport.ErrClosed, 1, "TrySend after Close of the endpoint")
}

// putSendIsBehindPut: the receiver looks at its memory with plain loads, and the sender's
// sources are overwritten as soon as the call has returned.
func putSendIsBehindPut(t *testing.T, nodes []*node) {
	start(nodes...)
	put, has := nodes[0].conns[1].(transport.PutSender)
	if !has {
		t.Log("nothing to check")
		return
	}
	s, err := nodes[1].share(3 << 20)
	ok(t, err)
	for k, n := range []int{0, 1, 8, 1000, 1 << 10, 4 << 10, 64<<10 + 1, 1 << 20, len(s.mem)} {
		for _, length := range []int{0, 1, 100, transport.MaxMessage} {
			src, msg := bytes.Repeat([]byte{byte(k + 1)}, n), bytes.Repeat([]byte{byte(length)}, length)
			result := make(chan error, 1)
			go func() { // the receiver may have to poll first
				err := put.PutSend(s.remote, src, msg)
				clear(src)
				clear(msg)
				result <- err
			}()
			got, err := nodes[1].receive()
			ok(t, err)
			if want := string(bytes.Repeat([]byte{byte(length)}, length)); got.text != want {
				t.Errorf("a message of %d bytes behind %d arrives as %d that differ", length, n, len(got.text))
			}
			if !bytes.Equal(s.mem[:n], bytes.Repeat([]byte{byte(k + 1)}, n)) {
				t.Errorf("a message of %d bytes comes before all %d that were put, or they have changed", length, n)
			}
			ok(t, <-result)
			ok(t, nodes[1].send(0, "seen")) // before they are written again
			_, err = nodes[0].receive()
			ok(t, err)
		}
	}
	ok(t, nodes[0].flush(1))
}

// putSendRefuses: where the peer has no such region, that is known at once or by the next Flush.
func putSendRefuses(t *testing.T, nodes []*node) {
	start(nodes...)
	n := nodes[0]
	put, has := n.conns[1].(transport.PutSender)
	if !has {
		t.Log("nothing to check")
		return
	}
	s, err := nodes[1].share(4096)
	ok(t, err)
	for _, length := range []int{65, 4096} {
		wants(t, transport.ErrRange, put.PutSend(s.part(0, 64), make([]byte, length), []byte("out of range")), "PutSend of %d bytes into 64", length)
		wants(t, transport.ErrTooLong, put.PutSend(s.remote, make([]byte, length), make([]byte, transport.MaxMessage+1)), "PutSend of too long a message")
	}
	ok(t, n.send(1, "after"))
	if got, err := nodes[1].receive(); err != nil || got.text != "after" {
		t.Errorf("a message that was refused arrived: %q, %v", got.text, err)
	}
	gone := s.remote
	gone.Key += 1 << 40
	for _, length := range []int{64, 4096} {
		err := put.PutSend(gone, make([]byte, length), []byte("nowhere"))
		if err == nil {
			err = n.flush(1)
		}
		wants(t, transport.ErrKey, err, "PutSend of %d bytes to no region", length)
	}
	ok(t, n.send(1, "the last one"))
	for text := ""; text != "the last one"; {
		got, err := nodes[1].receive()
		ok(t, err)
		text = got.text
	}
}
