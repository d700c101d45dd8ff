package transporttest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/golaunch/golaunch/transport"
)

var messageChecks = []check{
	{"messages of every length from 0 to MaxMessage arrive whole", 2, messagesOfEveryLength},
	{"MaxMessage+1 is ErrTooLong", 2, tooLongIsErrTooLong},
	{"messages arrive in the order of the Sends", 2, messagesKeepTheirOrder},
	{"two connections to one rank are ordered as one", 2, dialledTwiceIsOrderedAsOne},
	{"a Send is delivered behind every earlier Put", 2, sendIsBehindPut},
	{"the source of a Send may be reused at once", 2, sourceOfSendMayBeReused},
	{"a message stays as it is until the next Poll", 2, messageStaysUntilPoll},
	{"a message is never nil, even of length 0", 2, emptyMessageIsNotNil},
	{"a rank sends to itself", 1, rankSendsToItself},
	{"messages from every rank to every rank", 8, everybodySendsToEverybody},
}

// text is message k of length n from a rank: recognisable and of any length.
func text(rank, k, n int) string {
	return string(pattern(uint64(rank)<<12+uint64(k), n))
}

func messagesOfEveryLength(t *testing.T, nodes []*node) {
	start(nodes...)
	step := 1
	if testing.Short() {
		step = 7
	}
	for n := 0; n <= transport.MaxMessage; n++ {
		if n > 64 && n < transport.MaxMessage-64 && n%step != 0 {
			continue
		}
		ok(t, nodes[0].send(1, text(0, n, n)))
		got, err := nodes[1].receive()
		ok(t, err)
		if got != (message{0, text(0, n, n)}) {
			t.Fatalf("a message of %d bytes arrived from rank %d as %d bytes that differ", n, got.rank, len(got.text))
		}
	}
}

func tooLongIsErrTooLong(t *testing.T, nodes []*node) {
	start(nodes...)
	for _, n := range []int{transport.MaxMessage + 1, 1 << 20} {
		wants(t, transport.ErrTooLong, nodes[0].conns[1].Send(make([]byte, n)), "Send of %d bytes", n)
	}
	ok(t, nodes[0].send(1, "after"))
	got, err := nodes[1].receive()
	ok(t, err)
	if got.text != "after" {
		t.Errorf("a message that was refused arrived: %d bytes", len(got.text))
	}
}

func messagesKeepTheirOrder(t *testing.T, nodes []*node) {
	start(nodes[1])
	const count = 5000
	parallel(t, 2, func(side int) error {
		if side == 0 {
			return sendNumbered(nodes[0].conns[1], count)
		}
		return receiveNumbered(nodes[1], count)
	})
}

// sendNumbered sends messages of varying length that begin with their number.
func sendNumbered(c transport.Conn, count int) error {
	msg := make([]byte, 8, 520)
	for k := range count {
		binary.LittleEndian.PutUint64(msg, uint64(k))
		if err := c.Send(msg[:8+(k*37)%512]); err != nil {
			return err
		}
	}
	return nil
}

func receiveNumbered(n *node, count int) error {
	for k := range count {
		got, err := n.receive()
		if err != nil {
			return fmt.Errorf("message %d: %w", k, err)
		}
		if number := binary.LittleEndian.Uint64([]byte(got.text)); number != uint64(k) || len(got.text) != 8+(k*37)%512 {
			return fmt.Errorf("message %d of %d bytes arrived in the place of %d", number, len(got.text), k)
		}
	}
	return nil
}

func dialledTwiceIsOrderedAsOne(t *testing.T, nodes []*node) {
	start(nodes[1])
	again, err := nodes[0].endpoint.Dial(nodes[0].ctx, 1, nodes[1].endpoint.Addr())
	ok(t, err)
	conns := []transport.Conn{nodes[0].conns[1], again}
	const count = 500
	for k := range count {
		ok(t, conns[k%2].Send(binary.LittleEndian.AppendUint64(make([]byte, 0, 600), uint64(k))[:8+(k*37)%512]))
	}
	ok(t, receiveNumbered(nodes[1], count))
	ok(t, again.Close())
	ok(t, nodes[0].send(1, "the first one stays"))
	_, err = nodes[1].receive()
	ok(t, err)
	wants(t, transport.ErrClosed, again.Send(nil), "Send on a closed Conn")
}

// sendIsBehindPut: the receiver looks at its memory with plain loads.
func sendIsBehindPut(t *testing.T, nodes []*node) {
	start(nodes...)
	const rounds = 300
	s, err := nodes[1].share(64 << 10)
	ok(t, err)
	parallel(t, 2, func(side int) error {
		if side == 0 {
			return putAndTell(nodes[0], s, rounds)
		}
		return hearAndLook(nodes[1], s, rounds)
	})
}

func putAndTell(n *node, s shared, rounds int) error {
	for k := range rounds {
		data := bytes.Repeat([]byte{byte(k + 1)}, 1+(k*977)%len(s.mem))
		if err := n.conns[1].Put(s.remote, data, 0); err != nil {
			return err
		}
		if err := n.send(1, string(data[:1])); err != nil {
			return err
		}
		if _, err := n.receive(); err != nil { // the answer: it has looked
			return err
		}
	}
	return nil
}

func hearAndLook(n *node, s shared, rounds int) error {
	for k := range rounds {
		got, err := n.receive()
		if err != nil {
			return err
		}
		size := 1 + (k*977)%len(s.mem)
		if want := bytes.Repeat([]byte(got.text), size); !bytes.Equal(s.mem[:size], want) {
			return fmt.Errorf("round %d: the message came before byte %d of the Put", k, mismatch(s.mem[:size], want))
		}
		if err := n.send(0, "seen"); err != nil {
			return err
		}
	}
	return nil
}

func sourceOfSendMayBeReused(t *testing.T, nodes []*node) {
	msg := []byte("first")
	ok(t, nodes[0].conns[1].Send(msg))
	copy(msg, "wrong")
	start(nodes[1])
	got, err := nodes[1].receive()
	ok(t, err)
	if got.text != "first" {
		t.Errorf("received %q, want what the source held when Send was called", got.text)
	}
}

// messageStaysUntilPoll sends on while the receiver holds a message.
func messageStaysUntilPoll(t *testing.T, nodes []*node) {
	n := nodes[1]
	ok(t, nodes[0].send(1, text(0, 0, 1000)))
	held, err := n.pollOne()
	ok(t, err)
	for k := range transport.MinCredit - 1 {
		ok(t, nodes[0].send(1, text(0, k+1, 1000)))
	}
	if string(held.Message) != text(0, 0, 1000) {
		t.Error("a message changed before the next Poll")
	}
}

// pollOne polls on this goroutine until one completion comes, which stays valid.
func (n *node) pollOne() (transport.Completion, error) {
	var one [1]transport.Completion
	err := n.bell().until(n.ctx, func() (bool, error) {
		got, err := n.pollOrRest(one[:])
		return got > 0, err
	})
	return one[0], err
}

func emptyMessageIsNotNil(t *testing.T, nodes []*node) {
	ok(t, nodes[0].conns[1].Send(nil))
	got, err := nodes[1].pollOne()
	ok(t, err)
	if got.Message == nil || len(got.Message) != 0 || got.Rank != 0 || got.Op != 0 || got.Err != nil {
		t.Errorf("an empty message arrived as %+v", got)
	}
}

func rankSendsToItself(t *testing.T, nodes []*node) {
	start(nodes[0])
	ok(t, sendNumbered(nodes[0].conns[0], 100))
	ok(t, receiveNumbered(nodes[0], 100))
}

func everybodySendsToEverybody(t *testing.T, nodes []*node) {
	start(nodes...)
	const each = 200
	parallel(t, 2*len(nodes), func(i int) error {
		n := nodes[i/2]
		if i%2 == 0 {
			return sendToEverybody(n, len(nodes), each)
		}
		return receiveFromEverybody(n, len(nodes), each)
	})
}

func sendToEverybody(n *node, ranks, each int) error {
	for k := range each {
		for to := range ranks {
			if err := n.send(to, fmt.Sprintf("%d to %d: %d", n.rank, to, k)); err != nil {
				return err
			}
		}
	}
	return nil
}

func receiveFromEverybody(n *node, ranks, each int) error {
	next := make([]int, ranks)
	for range ranks * each {
		got, err := n.receive()
		if err != nil {
			return err
		}
		if want := fmt.Sprintf("%d to %d: %d", got.rank, n.rank, next[got.rank]); got.text != want {
			return fmt.Errorf("rank %d received %q, want %q", n.rank, got.text, want)
		}
		next[got.rank]++
	}
	return nil
}
