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
