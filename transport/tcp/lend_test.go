package tcp

import (
	"bytes"
	"runtime"
	"testing"
	"time"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/transporttest"
)

// lender is two endpoints in this process and memory of the second one.
type lender struct {
	from, to *endpoint
	c        transport.Conn
	at       transport.Remote
	mem      []byte
}

func startLender(t *testing.T, n int) *lender { return startLenderOf(t, loopback(), n) }

func startLenderOf(t *testing.T, p Provider, n int) *lender {
	w := transporttest.NewWorld(t, p, 2)
	l := &lender{from: w.Endpoints[0].(*endpoint), to: w.Endpoints[1].(*endpoint), mem: make([]byte, n)}
	region, err := l.to.Register(0, 0, l.mem)
	check(t, err)
	l.at = region.Remote()
	l.c, err = l.from.Dial(t.Context(), 1, l.to.Addr())
	check(t, err)
	return l
}

// left waits until everything is in the socket.
func (l *lender) left(t *testing.T) {
	s := &l.from.peerAt(1).tx
	for end := time.Now().Add(wildPatience); ; runtime.Gosched() {
		s.mu.Lock()
		over := len(s.big) == 0 && s.larges.count == 0 && len(s.out.rest()) == 0 && s.seq > 0
		s.mu.Unlock()
		if over {
			return
		}
		if time.Now().After(end) {
			t.Fatal("the payload does not leave")
		}
	}
}

// TestLentPayload: a Put does not return before the peer has its payload, and what
// the caller does with it afterwards the peer does not see.
func TestLentPayload(t *testing.T) {
	l := startLender(t, lentBytes+100)
	src := bytes.Repeat([]byte{1}, len(l.mem))
	reading := &l.to.peerAt(0).rx.mu
	reading.Lock() // it reads nothing
	result := make(chan error, 1)
	go func() { result <- l.c.Put(l.at, src, 0) }()
	l.left(t)
	select {
	case err := <-result:
		t.Errorf("Put has returned, with %v, before anything was read", err)
		reading.Unlock()
	default:
		reading.Unlock()
		check(t, <-result)
	}
	for i := range src {
		src[i] = 2
	}
	if at := bytes.IndexByte(l.mem, 2); at >= 0 {
		t.Errorf("byte %d was taken after Put had returned", at)
	}
	if !bytes.Equal(l.mem, bytes.Repeat([]byte{1}, len(l.mem))) {
		t.Error("not everything was put")
	}
}

// TestWithoutPipes: where there is no pipe to be had the payload is copied.
func TestWithoutPipes(t *testing.T) {
	l := startLender(t, 3*lentBytes)
	l.from.pipes.made = mostPipes
	check(t, l.c.Put(l.at, bytes.Repeat([]byte{1}, len(l.mem)), 0))
	if l.from.pipes.free != nil || !bytes.Equal(l.mem, bytes.Repeat([]byte{1}, len(l.mem))) {
		t.Error("not everything was put by copying")
	}
}

// TestCloseWhileLending: a Put whose payload nobody takes ends with the endpoint,
// and its pipe with it.
func TestCloseWhileLending(t *testing.T) {
	l := startLender(t, 16<<20)
	reading := &l.to.peerAt(0).rx.mu
	reading.Lock()
	defer reading.Unlock()
	result := make(chan error, 1)
	go func() { result <- l.c.Put(l.at, make([]byte, len(l.mem)), 0) }()
	s := &l.from.peerAt(1).tx
	for end := time.Now().Add(wildPatience); !s.blocked.Load(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal("the socket takes everything")
		}
	}
	check(t, l.from.Close())
	if err := <-result; err == nil {
		t.Error("Put has succeeded")
	}
	if l.from.pipes.made != 0 {
		t.Errorf("%d pipes are left", l.from.pipes.made)
	}
}
