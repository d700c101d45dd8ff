package tcp

import (
	"bytes"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/golaunch/golaunch/transport"
)

// TestCloseBeforeThePeerHasRead: what was sent comes, though the sender has closed its
// endpoint and gets messages that it does not read, before and after.
func TestCloseBeforeThePeerHasRead(t *testing.T) {
	encrypted := loopback()
	encrypted.Encrypt = true
	for name, p := range map[string]Provider{"plain": loopback(), "encrypted": encrypted} {
		t.Run(name, func(t *testing.T) {
			n := 600 << 10 // fits into the sender's socket, not into the receiver's
			if p.Encrypt {
				n = 128 << 10
			}
			l := startLenderOf(t, p, n)
			back, err := l.to.Dial(t.Context(), 0, l.from.Addr())
			check(t, err)
			reading := &l.to.peerAt(0).rx.mu
			reading.Lock()
			want := bytes.Repeat([]byte{1}, n)
			check(t, l.c.(*conn).PutSend(l.at, want, []byte{1}))
			check(t, back.Send([]byte("unread")))
			closed := make(chan error, 1)
			go func() { closed <- l.from.Close() }()
			for end := time.Now().Add(wildPatience); l.from.peerAt(1).end() == nil; runtime.Gosched() {
				if time.Now().After(end) {
					t.Fatal("it does not close")
				}
			}
			check(t, back.Send([]byte("too late")))
			reading.Unlock()
			var done [1]transport.Completion
			for got, end := 0, time.Now().Add(wildPatience); got == 0; {
				if got, err = l.to.Poll(done[:]); err != nil || time.Now().After(end) {
					t.Fatalf("the message does not come: %v", err)
				}
			}
			if len(done[0].Message) != 1 || !bytes.Equal(l.mem, want) {
				t.Errorf("%+v came, or other bytes", done[0])
			}
			for end := time.Now().Add(wildPatience); err == nil && time.Now().Before(end); {
				err = back.Send(make([]byte, 8))
				_, wrong := l.to.Poll(done[:])
				check(t, wrong)
			}
			if !errors.Is(err, transport.ErrClosed) {
				t.Errorf("afterwards: %v", err)
			}
			check(t, <-closed)
		})
	}
}
