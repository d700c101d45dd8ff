package tcp

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/golaunch/golaunch/transport"
)

// TestPutSend: the message comes behind what was put, whatever its length, and a
// Flush behind it completes.
func TestPutSend(t *testing.T) {
	l := startLender(t, 16<<20)
	both := l.c.(interface {
		PutSend(dst transport.Remote, src, msg []byte) error
	})
	done := make([]transport.Completion, 1)
	next := func(e *endpoint) transport.Completion {
		t.Helper()
		for end := time.Now().Add(wildPatience); ; {
			n, err := e.Poll(done)
			check(t, err)
			if n == 1 {
				return done[0]
			}
			if time.Now().After(end) {
				t.Fatal("nothing comes")
			}
		}
	}
	for k, n := range []int{8, inlineBytes + 1, 256 << 10, 1 << 20, 4 << 20, len(l.mem)} {
		fill := byte(k + 1)
		result := make(chan error, 1)
		go func() { result <- both.PutSend(l.at, bytes.Repeat([]byte{fill}, n), []byte{fill}) }()
		if c := next(l.to); len(c.Message) != 1 || c.Message[0] != fill {
			t.Fatalf("%d bytes: %+v", n, c)
		}
		if !bytes.Equal(l.mem[:n], bytes.Repeat([]byte{fill}, n)) {
			t.Errorf("%d bytes: the message came before all of them", n)
		}
		check(t, <-result)
		check(t, l.c.Flush(transport.OpID(k+1)))
		if c := next(l.from); c.Op != transport.OpID(k+1) || c.Err != nil {
			t.Errorf("%d bytes: %+v", n, c)
		}
	}
}

// TestPutSendWithoutCredit: the message waits for credit, behind the payload.
func TestPutSendWithoutCredit(t *testing.T) {
	l := startLender(t, 1<<20)
	msg, sent := make([]byte, transport.MaxMessage), 0
	for ; ; sent++ {
		if ok, err := l.c.(*conn).TrySend(msg); err != nil || !ok {
			check(t, err)
			break
		}
	}
	result := make(chan error, 1)
	go func() { result <- l.c.(*conn).PutSend(l.at, bytes.Repeat([]byte{1}, len(l.mem)), msg) }()
	done := make([]transport.Completion, 4)
	for got, end := 0, time.Now().Add(wildPatience); got <= sent; {
		n, err := l.to.Poll(done)
		check(t, err)
		got += n
		if time.Now().After(end) {
			t.Fatalf("%d messages of %d came", got, sent+1)
		}
	}
	check(t, <-result)
	if !bytes.Equal(l.mem, bytes.Repeat([]byte{1}, len(l.mem))) {
		t.Error("the message came before the payload")
	}
}

// TestPutSendAsThePeerLeaves: what has left and was taken has been sent, though the
// peer leaves before the sender looks again.
func TestPutSendAsThePeerLeaves(t *testing.T) {
	for _, n := range []int{2 << 20, 4 << 20} {
		l := startLender(t, n)
		reading := &l.to.peerAt(0).rx.mu
		reading.Lock() // nothing, before the sender waits: as much would not fit
		received := make(chan error, 1)
		go func() {
			done := make([]transport.Completion, 1)
			for k, err := 0, error(nil); ; k, err = l.to.Poll(done) {
				if err != nil || k == 1 {
					received <- errors.Join(err, l.to.Close())
					return
				}
			}
		}()
		waited := false
		l.from.cfg.Wait = func(context.Context, int, func() bool) error {
			if !waited {
				waited = true
				reading.Unlock()
			}
			for end := time.Now().Add(wildPatience); l.from.peerAt(1).end() == nil; {
				if _, err := l.from.Poll(make([]transport.Completion, 1)); err != nil || time.Now().After(end) {
					return errors.Join(err, errors.New("the peer has not left"))
				}
			}
			return nil
		}
		check(t, l.c.(*conn).PutSend(l.at, make([]byte, n), []byte{1}))
		if !waited {
			reading.Unlock()
			t.Fatalf("%d bytes fit into the socket", n)
		}
		check(t, <-received)
	}
}
