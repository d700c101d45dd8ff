package shm

import (
	"errors"
	"testing"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/transporttest"
)

// TestTrySendNeverWaits fills a ring that nobody polls.
func TestTrySendNeverWaits(t *testing.T) {
	w := transporttest.NewWorld(t, Provider{}, 2)
	c, err := w.Endpoints[0].Dial(t.Context(), 1, w.Endpoints[1].Addr())
	if err != nil {
		t.Fatal(err)
	}
	try := c.(interface{ TrySend([]byte) (bool, error) })
	sent := 0
	for ; ; sent++ {
		ok, err := try.TrySend([]byte{byte(sent)})
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
	}
	if sent < ringBytes/64 {
		t.Errorf("only %d messages went into the ring", sent)
	}
	done := make([]transport.Completion, 1)
	for got := range sent {
		n, err := w.Endpoints[1].Poll(done)
		if err != nil || n != 1 || len(done[0].Message) != 1 || done[0].Message[0] != byte(got) {
			t.Fatalf("message %d: %d, %v, %+v", got, n, err, done[0])
		}
	}
	if _, err := w.Endpoints[1].Poll(done); err != nil {
		t.Fatal(err)
	}
	if ok, err := try.TrySend(nil); !ok || err != nil {
		t.Errorf("into an empty ring: %v, %v", ok, err)
	}
	if _, err := try.TrySend(make([]byte, transport.MaxMessage+1)); !errors.Is(err, transport.ErrTooLong) {
		t.Errorf("too long: %v", err)
	}
	if err := w.Endpoints[0].Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := try.TrySend(nil); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestReserveAndWatch sends in place and takes messages one at a time, between
// those of Send and Poll.
func TestReserveAndWatch(t *testing.T) {
	w := transporttest.NewWorld(t, Provider{}, 2)
	c, err := w.Endpoints[0].Dial(t.Context(), 1, w.Endpoints[1].Addr())
	if err != nil {
		t.Fatal(err)
	}
	place := c.(interface {
		Reserve(n int) ([]byte, bool)
		Commit(n int)
	})
	watcher := w.Endpoints[1].(interface{ Watch(int) (int, []byte) })
	if _, ok := place.Reserve(8); ok {
		t.Error("room in a ring that nobody has made")
	}
	if _, ok := place.Reserve(transport.MaxMessage + 1); ok {
		t.Error("room for more than the longest message")
	}
	done := make([]transport.Completion, 1)
	next := byte(0)
	for sent := byte(0); sent < 200; sent++ {
		if sent%3 == 0 {
			if err := c.Send([]byte{sent}); err != nil {
				t.Fatal(err)
			}
		} else if room, ok := place.Reserve(1); ok {
			room[0] = sent
			place.Commit(1)
		} else {
			t.Fatalf("no room for message %d", sent)
		}
		for sent%7 == 6 && next <= sent {
			var msg []byte
			if next%2 == 0 {
				_, msg = watcher.Watch(1000)
			}
			if msg == nil { // Watch leaves the first announcement to Poll
				n, err := w.Endpoints[1].Poll(done)
				if n != 1 || err != nil {
					t.Fatalf("Poll: %d, %v", n, err)
				}
				msg = done[0].Message
			}
			if len(msg) != 1 || msg[0] != next {
				t.Fatalf("message %d came, want %d", msg, next)
			}
			next++
		}
	}
	for taken := 0; ; taken++ { // a ring's room is given back by Watch as well
		room, ok := place.Reserve(transport.MaxMessage)
		if !ok {
			if taken < 10 {
				t.Errorf("only %d messages went into the ring", taken)
			}
			break
		}
		room[0] = 1
		place.Commit(transport.MaxMessage)
	}
	for {
		if _, msg := watcher.Watch(10); msg == nil {
			break
		}
	}
	if _, ok := place.Reserve(transport.MaxMessage); !ok {
		t.Error("the room was not given back")
	} else {
		place.Commit(0)
	}
	if err := w.Endpoints[1].Close(); err != nil {
		t.Fatal(err)
	}
	if _, msg := watcher.Watch(10); msg != nil {
		t.Error("a closed endpoint has messages")
	}
	if _, ok := place.Reserve(8); ok {
		t.Error("room at a closed peer")
	}
}
