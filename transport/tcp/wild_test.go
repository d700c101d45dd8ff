package tcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/internal/address"
	"github.com/golaunch/golaunch/transport/internal/handshake"
	"github.com/golaunch/golaunch/transport/tcp/wire"
	"github.com/golaunch/golaunch/transport/transporttest"
)

// A wild peer is rank 1 that has proved itself and then says what it likes.
type wild struct {
	t    testing.TB
	conn net.Conn
	e    *endpoint // rank 0, which it talks to
	c    transport.Conn
	job  *transporttest.Job
	mem  []byte // rank 0's region
	key  uint64
	seq  uint32
}

const wildPatience = 30 * time.Second

func startWild(t testing.TB, p Provider) *wild {
	t.Helper()
	job := transporttest.NewJob(2, nil)
	e, err := p.open(job.Config(0))
	check(t, err)
	t.Cleanup(func() { check(t, e.Close()) })
	w := &wild{t: t, e: e, job: job, mem: make([]byte, 1<<20)}
	region, err := e.Register(0, 0, w.mem)
	check(t, err)
	w.key = region.Remote().Key
	w.conn = dialAs(t, e, 1)
	// Rank 0 dials the connection that there is.
	offer := e.offer
	addr, err := address.EncodeEndpoint(1, offer)
	check(t, err)
	w.c, err = e.Dial(t.Context(), 1, addr)
	check(t, err)
	return w
}

// dialAs connects to e as another rank, and is welcomed.
func dialAs(t testing.TB, e *endpoint, rank int) net.Conn {
	t.Helper()
	conn := callAs(t, e, rank)
	check(t, hearVerdict(conn))
	return conn
}

// callAs connects to e as another rank.
func callAs(t testing.TB, e *endpoint, rank int) net.Conn {
	t.Helper()
	me := e.me
	me.Rank = rank
	ctx, cancel := context.WithTimeout(context.Background(), wildPatience)
	defer cancel()
	conn, err := handshake.Dial(ctx, address.Order(e.offer, e.offer), me, e.cfg.Rank)
	check(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	check(t, conn.SetDeadline(time.Now().Add(wildPatience)))
	return conn
}

// say sends a frame with the next number.
func (w *wild) say(h wire.Header, payload ...byte) {
	w.seq++
	h.Seq = w.seq
	w.sayAs(h, payload...)
}

func (w *wild) sayAs(h wire.Header, payload ...byte) {
	b := make([]byte, wire.HeaderBytes, wire.HeaderBytes+len(payload))
	h.Encode(b)
	// It may have been refused already: what Poll says is looked at.
	_, _ = w.conn.Write(append(b, payload...))
}

// ending polls until the endpoint says that nothing more comes from the peer.
func (w *wild) ending() error {
	w.t.Helper()
	var done [4]transport.Completion
	for end := time.Now().Add(wildPatience); time.Now().Before(end); {
		n, err := w.e.Poll(done[:])
		check(w.t, err)
		for _, c := range done[:n] {
			if c.Op == 0 && c.Message == nil {
				return c.Err
			}
		}
	}
	w.t.Fatal("the connection stays")
	return nil
}

func TestViolationsEndTheConnection(t *testing.T) {
	cases := map[string]struct {
		violate func(w *wild)
		says    string
	}{
		"no frame":     {func(w *wild) { _, _ = w.conn.Write(make([]byte, 200)) }, "malformed frame"},
		"HTTP":         {func(w *wild) { fmt.Fprintf(w.conn, "GET / HTTP/1.1\r\nHost: example.org\r\nAccept: */*\r\n\r\n") }, "malformed frame"},
		"oversized":    {func(w *wild) { w.say(wire.Header{Kind: wire.Put, Length: wire.MaxPiece + 1}) }, "1048577 bytes"},
		"replayed":     {func(w *wild) { w.say(wire.Header{Kind: wire.Ack}); w.sayAs(wire.Header{Kind: wire.Ack, Seq: 1}) }, "out of sequence"},
		"skipped":      {func(w *wild) { w.sayAs(wire.Header{Kind: wire.Ack, Seq: 7}) }, "out of sequence"},
		"truncated":    {func(w *wild) { _, _ = w.conn.Write(make([]byte, 3)); _ = w.conn.(*net.TCPConn).CloseWrite() }, "without a goodbye"},
		"acknowledges": {func(w *wild) { w.say(wire.Header{Kind: wire.Ack, Ack: 5}) }, "acknowledges 5 frames"},
		"gives credit": {func(w *wild) { w.say(wire.Header{Kind: wire.Ack, Taken: 64}) }, "64 bytes of messages"},
		"Data":         {func(w *wild) { w.say(wire.Header{Kind: wire.Data, Length: 8}, make([]byte, 8)...) }, "unexpected Data"},
		"Value":        {func(w *wild) { w.say(wire.Header{Kind: wire.Value}) }, "unexpected Value"},
		"Refusal":      {func(w *wild) { w.say(wire.Header{Kind: wire.Refusal, Token: 99}) }, "token 99"},
		"Welcome":      {func(w *wild) { w.say(wire.Header{Kind: wire.Welcome}) }, "Welcome in the midst"},
		"no credit": {func(w *wild) {
			for range wire.CreditBytes/wire.MaxMessage + 1 {
				w.say(wire.Header{Kind: wire.Message, Length: wire.MaxMessage}, make([]byte, wire.MaxMessage)...)
			}
		}, "bytes of messages that were not taken"},
		"asks without end": {func(w *wild) {
			for range 2 * maxReplies {
				w.say(wire.Header{Kind: wire.Get, Key: w.key, Value: wire.MaxPiece})
			}
		}, "answers it does not take"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := startWild(t, loopback())
			check(t, w.c.Put(transport.Remote{Key: 1, Len: 8}, make([]byte, 8), 77))
			go c.violate(w)
			var done [8]transport.Completion
			var said, ended error
			for end := time.Now().Add(wildPatience); said == nil || ended == nil; {
				if time.Now().After(end) {
					t.Fatalf("the connection stays: %v, %v", said, ended)
				}
				if name == "no credit" && w.e.peerAt(1).end() == nil {
					continue // polling would give credit
				}
				n, err := w.e.Poll(done[:])
				check(t, err)
				for _, x := range done[:n] {
					switch {
					case x.Op == 77:
						ended = x.Err
					case x.Op == 0 && x.Message == nil:
						said = x.Err
					}
				}
			}
			for _, err := range []error{said, ended} {
				if !errors.Is(err, transport.ErrPeerFailed) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "rank 1") {
					t.Errorf("the error is %v, it should say %q", err, c.says)
				}
			}
			if err := w.c.Send(nil); !errors.Is(err, transport.ErrPeerFailed) {
				t.Errorf("Send afterwards: %v", err)
			}
			if _, err := io.Copy(io.Discard, w.conn); err != nil && errors.Is(err, net.ErrClosed) == false && isTimeout(err) {
				t.Errorf("the connection was not closed: %v", err)
			}
		})
	}
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// TestWrongAnswers: answers that do not fit what was asked for.
func TestWrongAnswers(t *testing.T) {
	region := transport.Remote{Key: 1, Len: 64}
	cases := map[string]struct {
		ask    func(c transport.Conn) error
		answer wire.Header
		says   string
	}{
		"too short":     {func(c transport.Conn) error { return c.Get(make([]byte, 64), region, 5) }, wire.Header{Kind: wire.Data, Length: 8}, "which asked for 64"},
		"too long":      {func(c transport.Conn) error { return c.Get(make([]byte, 8), region, 5) }, wire.Header{Kind: wire.Data, Length: 64}, "which asked for 8"},
		"of other kind": {func(c transport.Conn) error { return c.FetchAdd(region, 1, nil, 5) }, wire.Header{Kind: wire.Data}, "token 0"},
		"for another":   {func(c transport.Conn) error { return c.FetchAdd(region, 1, nil, 5) }, wire.Header{Kind: wire.Value, Token: 1}, "token 1"},
		"for a Put":     {func(c transport.Conn) error { return c.Put(region, nil, 5) }, wire.Header{Kind: wire.Value}, "token 0"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := startWild(t, loopback())
			check(t, c.ask(w.c))
			w.say(c.answer, make([]byte, c.answer.Length)...)
			if err := w.ending(); !errors.Is(err, transport.ErrPeerFailed) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v, it should say %q", err, c.says)
			}
		})
	}
}

// FuzzPeer lets a peer that has proved itself say anything: nothing but its
// connection ends.
func FuzzPeer(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	var b [wire.HeaderBytes + 8]byte
	for kind := wire.Put; kind <= wire.Goodbye; kind++ {
		h := wire.Header{Kind: kind, Seq: 1, Key: firstKey + keyStep, Value: 8, Length: 8}
		h.Encode(b[:])
		f.Add(b[:])
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		w := startWild(t, loopback())
		check(t, w.c.Get(make([]byte, 8), transport.Remote{Key: 1, Len: 8}, 1))
		_, err := w.conn.Write(said)
		check(t, err)
		check(t, w.conn.Close())
		if err := w.ending(); !errors.Is(err, transport.ErrPeerFailed) && !errors.Is(err, transport.ErrClosed) {
			t.Errorf("the error is %v", err)
		}
	})
}

// TestSilentPeer: a peer that takes what it is sent and never says a word.
func TestSilentPeer(t *testing.T) {
	p := loopback()
	p.Timeout = time.Second
	w := startWild(t, p)
	go func() { _, _ = io.Copy(io.Discard, w.conn) }()
	check(t, w.c.Flush(3))
	check(t, w.c.Put(transport.Remote{Key: 1, Len: 8}, make([]byte, 8), 0))
	check(t, w.c.Flush(4))
	start := time.Now()
	if err := w.ending(); !errors.Is(err, transport.ErrPeerFailed) || !strings.Contains(err.Error(), "no sign of life for 1s") {
		t.Errorf("the error is %v", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestPeerThatDoesNotRead: a long Put to it blocks, and ends with an error.
func TestPeerThatDoesNotRead(t *testing.T) {
	p := loopback()
	p.Timeout = time.Second
	w := startWild(t, p)
	err := w.c.Put(transport.Remote{Key: 1, Len: 64 << 20}, make([]byte, 64<<20), 0)
	if !errors.Is(err, transport.ErrPeerFailed) {
		t.Errorf("Put: %v", err)
	}
}
