package tcp

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/tcp/wire"
	"github.com/golaunch/golaunch/transport/transporttest"
)

// TestMessagesCutAnywhere: messages come in their order, as they were and once,
// wherever the network cuts the stream, however many Poll takes at once, and whoever
// reads: Poll, which hands them out from where it read them, or the endpoint's own
// goroutine, which keeps them.
func TestMessagesCutAnywhere(t *testing.T) {
	const messages = 3000
	random := rand.New(rand.NewPCG(5, 6))
	w := startWild(t, loopback())
	heard := make(chan uint32, 1)
	go listenForCredit(w, heard)
	var stream []byte
	var spent, granted uint32
	length := func(i int) int { return 8 + i*i%300 + i%7/6*3000 }
	sent, got := 0, 0
	for end := time.Now().Add(wildPatience); got < messages; {
		if time.Now().After(end) {
			t.Fatalf("%d of %d messages have come", got, messages)
		}
		select {
		case granted = <-heard:
		default:
		}
		for sent < messages && random.IntN(4) > 0 {
			cost := uint32(wire.MessageCost(length(sent)))
			if spent-granted+cost > wire.CreditBytes {
				break
			}
			spent += cost
			stream = appendMessage(w, stream, sent, length(sent))
			sent++
		}
		n := min(len(stream), 1+random.IntN(4000))
		_, err := w.conn.Write(stream[:n])
		check(t, err)
		stream = stream[n:]
		if random.IntN(50) == 0 {
			w.e.Rest()
		}
		got = pollMessages(t, w.e, make([]transport.Completion, random.IntN(5)), got, length)
	}
}

func appendMessage(w *wild, stream []byte, i, length int) []byte {
	w.seq++
	h := wire.Header{Kind: wire.Message, Length: uint32(length), Seq: w.seq}
	var head [wire.HeaderBytes]byte
	h.Encode(head[:])
	return append(append(stream, head[:]...), numbered(i, length)...)
}

// numbered is a message that says which one it is all along.
func numbered(i, length int) []byte {
	msg := bytes.Repeat([]byte{byte(i)}, length)
	binary.LittleEndian.PutUint64(msg, uint64(i))
	return msg
}

func pollMessages(t *testing.T, e *endpoint, done []transport.Completion, got int, length func(i int) int) int {
	t.Helper()
	n, err := e.Poll(done)
	check(t, err)
	for _, c := range done[:n] {
		if !bytes.Equal(c.Message, numbered(got, length(got))) {
			t.Fatalf("message %d of %d bytes is %d bytes, or another one: %v", got, length(got), len(c.Message), c.Err)
		}
		got++
	}
	return got
}

// listenForCredit says how much credit was given back.
func listenForCredit(w *wild, heard chan uint32) {
	var b [wire.HeaderBytes]byte
	for {
		if _, err := io.ReadFull(w.conn, b[:]); err != nil {
			return
		}
		var h wire.Header
		if h.Decode(b[:]) != nil {
			return
		}
		select {
		case <-heard:
		default:
		}
		heard <- h.Taken
	}
}

// TestPeersInOnePoll: what one peer has sent is still there when the Poll that hands it
// out has read the next one, also when it came behind so much else that the read was a
// full one.
func TestPeersInOnePoll(t *testing.T) {
	t.Run("messages", func(t *testing.T) { peersInOnePoll(t, 0, 60) })
	t.Run("a Put and messages", func(t *testing.T) { peersInOnePoll(t, leastBytes+500, 1000) })
}

// peersInOnePoll: each peer sends a Put of so many bytes, if any, and messages from length
// on.
func peersInOnePoll(t *testing.T, put, length int) {
	const peers, rounds, atOnce = 3, 300, 8
	e, err := loopback().open(transporttest.NewJob(1+peers, nil).Config(0))
	check(t, err)
	t.Cleanup(func() { check(t, e.Close()) })
	region, err := e.Register(0, 0, make([]byte, 2*leastBytes))
	check(t, err)
	var wilds [1 + peers]*wild
	for rank := 1; rank <= peers; rank++ {
		wilds[rank] = &wild{t: t, e: e, conn: dialAs(t, e, rank)}
	}
	together := 0
	for round := range rounds {
		for rank, w := range wilds[1:] {
			var stream []byte
			if put > 0 {
				w.seq++
				h := wire.Header{Kind: wire.Put, Length: uint32(put), Seq: w.seq, Token: connToken, Key: region.Remote().Key}
				var head [wire.HeaderBytes]byte
				h.Encode(head[:])
				stream = append(append(stream, head[:]...), make([]byte, put)...)
			}
			for i := range atOnce {
				stream = appendMessage(w, stream, (round*atOnce+i)<<8|(1+rank), length+round%150)
			}
			_, err := w.conn.Write(stream)
			check(t, err)
		}
		var next [1 + peers]int
		var done [2 * peers * atOnce]transport.Completion
		for left, end := peers*atOnce, time.Now().Add(wildPatience); left > 0; {
			n, err := e.Poll(done[:])
			check(t, err)
			if n == 0 && time.Now().After(end) {
				t.Fatalf("round %d: %d messages are missing", round, left)
			}
			seen := map[int]bool{}
			for _, c := range done[:n] {
				if i := (round*atOnce+next[c.Rank])<<8 | c.Rank; !bytes.Equal(c.Message, numbered(i, length+round%150)) {
					t.Fatalf("round %d: message %d of rank %d is another one", round, next[c.Rank], c.Rank)
				}
				next[c.Rank]++
				seen[c.Rank] = true
			}
			if left -= n; len(seen) > 1 {
				together++
			}
		}
	}
	if together == 0 {
		t.Error("no Poll has read several peers")
	}
}

// TestLastWordCounts: what a peer has acknowledged before its connection ends has
// happened, though both are found by one read.
func TestLastWordCounts(t *testing.T) {
	w := startWild(t, loopback())
	check(t, w.c.Put(transport.Remote{Key: 1, Len: 8}, make([]byte, 8), 7))
	check(t, w.c.Put(transport.Remote{Key: 1, Len: 8}, make([]byte, 8), 8))
	ack, nonsense := wire.Header{Kind: wire.Ack, Seq: 1, Ack: 1}, make([]byte, wire.HeaderBytes)
	b := make([]byte, wire.HeaderBytes)
	ack.Encode(b)
	_, err := w.conn.Write(append(b, nonsense...))
	check(t, err)
	ends := map[transport.OpID]error{}
	var done [4]transport.Completion
	for end := time.Now().Add(wildPatience); len(ends) < 3 && time.Now().Before(end); {
		n, err := w.e.Poll(done[:])
		check(t, err)
		for _, c := range done[:n] {
			ends[c.Op] = c.Err
		}
	}
	if len(ends) < 3 || ends[7] != nil || ends[8] == nil || ends[0] == nil {
		t.Errorf("the Put that was acknowledged, the other one and the connection ended with: %v", ends)
	}
}

// TestSmallBufferIsOutgrown: what follows while the socket is full goes to a larger
// buffer, and all of it leaves in order.
func TestSmallBufferIsOutgrown(t *testing.T) {
	w := startWild(t, loopback())
	p := w.e.peerAt(1)
	p.tx.mu.Lock()
	p.tx.blocked.Store(true) // as if the socket were full
	p.tx.mu.Unlock()
	var want []byte
	for i := range 20 {
		msg := numbered(i, 100)
		want = append(want, msg...)
		check(t, w.c.Send(msg))
		if w.c.(*conn).TryGather([3]uint64{}, nil) {
			t.Error("a message overtakes what waits to leave")
		}
	}
	p.unblock()
	var got []byte
	b := make([]byte, wire.HeaderBytes+100)
	for range 20 {
		_, err := io.ReadFull(w.conn, b)
		check(t, err)
		got = append(got, b[wire.HeaderBytes:]...)
	}
	if !bytes.Equal(got, want) {
		t.Error("other messages have left than were sent")
	}
}

// TestGathered: words and what follows them arrive as one message, and what is too long
// for that is left to Send.
func TestGathered(t *testing.T) {
	w := startWild(t, loopback())
	c := w.c.(*conn)
	for n := range 400 {
		body := bytes.Repeat([]byte{byte(n)}, n)
		if sent := c.TryGather([3]uint64{1, 2, uint64(n)}, body); sent != (wire.HeaderBytes+24+n <= smallBytes) {
			t.Fatalf("%d bytes: sent %v", n, sent)
		} else if !sent {
			continue
		}
		b := make([]byte, wire.HeaderBytes+24+n)
		_, err := io.ReadFull(w.conn, b)
		check(t, err)
		var h wire.Header
		check(t, h.Decode(b))
		want := binary.LittleEndian.AppendUint64(append([]byte{1, 0, 0, 0, 0, 0, 0, 0}, 2, 0, 0, 0, 0, 0, 0, 0), uint64(n))
		if h.Kind != wire.Message || int(h.Length) != 24+n || !bytes.Equal(b[wire.HeaderBytes:], append(want, body...)) {
			t.Fatalf("%d bytes: a %v of %d bytes, or other ones, arrived", n, h.Kind, h.Length)
		}
	}
	check(t, c.Close())
	if c.TryGather([3]uint64{}, nil) {
		t.Error("sent on a connection that was closed")
	}
}
