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

// TestPutIsNotLent: what the caller does with a payload that is copied after Put has
// returned the peer does not see, though it has read nothing until then.
func TestPutIsNotLent(t *testing.T) {
	l := startLender(t, lentBytes-100)
	src := bytes.Repeat([]byte{1}, len(l.mem))
	reading := &l.to.peerAt(0).rx.mu
	reading.Lock() // it reads nothing
	result := make(chan error, 1)
	go func() { result <- l.c.Put(l.at, src, 0) }()
	l.left(t)
	check(t, <-result)
	for i := range src {
		src[i] = 2
	}
	reading.Unlock()
	check(t, l.c.Flush(1))
	check(t, l.got(t))
	if !bytes.Equal(l.mem, bytes.Repeat([]byte{1}, len(l.mem))) {
		t.Error("other bytes were put")
	}
}

// TestLentPut: a Put that is lent does not return before the peer has its payload, and
// what the caller does with it afterwards the peer does not see.
func TestLentPut(t *testing.T) {
	for _, n := range []int{lentBytes, lentBytes + 100, lentPut} {
		l := startLender(t, n)
		src := bytes.Repeat([]byte{1}, n)
		reading := &l.to.peerAt(0).rx.mu
		reading.Lock() // it reads nothing
		result := make(chan error, 1)
		go func() { result <- l.c.Put(l.at, src, 0) }()
		if n == lentBytes { // all of it is in the socket
			l.left(t)
		}
		select {
		case err := <-result:
			t.Errorf("Put of %d bytes has returned, with %v, before anything was read", n, err)
			reading.Unlock()
		default:
			reading.Unlock()
			check(t, <-result)
		}
		clear(src)
		if !bytes.Equal(l.mem, bytes.Repeat([]byte{1}, n)) {
			t.Errorf("not all of %d bytes was put", n)
		}
		if made, free := l.from.pipes.made, len(l.from.pipes.free); made != 1 || free != 1 {
			t.Errorf("%d bytes: %d pipes were made, %d are free", n, made, free)
		}
	}
}

// TestPutWithoutPipes: where there is no pipe to be had the payload is copied.
func TestPutWithoutPipes(t *testing.T) {
	l := startLender(t, 3*lentBytes)
	l.from.pipes.made = mostPipes
	check(t, l.c.Put(l.at, bytes.Repeat([]byte{1}, len(l.mem)), 0))
	if l.from.pipes.free != nil || !bytes.Equal(l.mem, bytes.Repeat([]byte{1}, len(l.mem))) {
		t.Error("not everything was put by copying")
	}
}

// TestCloseWhilePutting: a Put whose payload nobody takes ends with the endpoint, and its
// pipe with it.
func TestCloseWhilePutting(t *testing.T) {
	for _, n := range []int{lentPut, 16 << 20} {
		l := startLender(t, n)
		reading := &l.to.peerAt(0).rx.mu
		reading.Lock()
		result := make(chan error, 1)
		go func() { result <- l.c.Put(l.at, make([]byte, n), 0) }()
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
		reading.Unlock()
	}
}

// get begins a Get of all of the memory that rank 1 has.
func (l *lender) get(t *testing.T) []byte {
	b := make([]byte, len(l.mem))
	check(t, l.c.Get(b, l.at, 1))
	return b
}

// got polls both ends until that Get, or what else is called 1, has ended.
func (l *lender) got(t *testing.T) error {
	var done [1]transport.Completion
	for end := time.Now().Add(wildPatience); ; {
		_, err := l.to.Poll(done[:])
		check(t, err)
		n, err := l.from.Poll(done[:])
		check(t, err)
		if n == 1 && done[0].Op == 1 {
			return done[0].Err
		}
		if time.Now().After(end) {
			t.Fatal("the Get does not end")
		}
	}
}

// TestLentPayload: what a long Get brings goes through a pipe, which is used again,
// and is all there; where there is no pipe to be had it is copied.
func TestLentPayload(t *testing.T) {
	l := startLender(t, 3*lentBytes)
	for i, pipes := range []int{1, 1, mostPipes} {
		if pipes == mostPipes {
			l.to.pipes.close()
			l.to.pipes.made = mostPipes
		}
		copy(l.mem, bytes.Repeat([]byte{byte(i + 1)}, len(l.mem)))
		b := l.get(t)
		check(t, l.got(t))
		if !bytes.Equal(b, l.mem) {
			t.Errorf("Get %d: other bytes", i)
		}
		if l.to.pipes.made != pipes || len(l.to.pipes.free) != pipes%mostPipes {
			t.Errorf("Get %d: %d pipes were made, %d are free", i, l.to.pipes.made, len(l.to.pipes.free))
		}
	}
}

// TestCloseWhileLending: an answer that nobody takes ends with the endpoint, and its pipe
// with it.
func TestCloseWhileLending(t *testing.T) {
	l := startLender(t, 16<<20)
	l.get(t)
	reading := &l.from.peerAt(1).rx.mu
	reading.Lock()
	var done [1]transport.Completion
	s := &l.to.peerAt(0).tx
	for end := time.Now().Add(wildPatience); !s.blocked.Load(); {
		_, err := l.to.Poll(done[:])
		check(t, err)
		if time.Now().After(end) {
			t.Fatal("the socket takes everything")
		}
	}
	closed := make(chan error, 1)
	go func() { closed <- l.to.Close() }()
	for end := time.Now().Add(wildPatience); l.to.peerAt(0).end() == nil; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal("it does not close")
		}
	}
	reading.Unlock()
	check(t, <-closed)
	if l.to.pipes.made != 0 {
		t.Errorf("%d pipes are left", l.to.pipes.made)
	}
}
