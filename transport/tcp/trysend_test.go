package tcp

import (
	"errors"
	"testing"
	"time"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/transporttest"
)

// TestTrySendNeverWaits uses up the credit with a peer that does not poll. What was
// taken arrives in order, and credit comes back.
func TestTrySendNeverWaits(t *testing.T) {
	w := transporttest.NewWorld(t, loopback(), 2)
	c, err := w.Endpoints[0].Dial(t.Context(), 1, w.Endpoints[1].Addr())
	if err != nil {
		t.Fatal(err)
	}
	try := c.(interface{ TrySend([]byte) (bool, error) })
	msg := make([]byte, transport.MaxMessage)
	sent := 0
	for ; ; sent++ {
		msg[0] = byte(sent)
		ok, err := try.TrySend(msg)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
	}
	if sent < transport.MinCredit {
		t.Errorf("only %d messages were taken", sent)
	}
	poll := func(rank int, each func(transport.Completion), until func() bool) {
		t.Helper()
		done := make([]transport.Completion, 4)
		for end := time.Now().Add(20 * time.Second); !until(); {
			n, err := w.Endpoints[rank].Poll(done)
			if err != nil || time.Now().After(end) {
				t.Fatalf("polling takes too long: %v", err)
			}
			for _, x := range done[:n] {
				each(x)
			}
		}
	}
	got := 0
	poll(1, func(x transport.Completion) {
		if len(x.Message) != len(msg) || x.Message[0] != byte(got) {
			t.Errorf("message %d is %d bytes, %v", got, len(x.Message), x.Err)
		}
		got++
	}, func() bool { return got == sent })
	back := false
	poll(0, func(transport.Completion) {}, func() bool {
		done := make([]transport.Completion, 1)
		if _, err := w.Endpoints[1].Poll(done); err != nil {
			t.Fatal(err)
		}
		if !back {
			back, err = try.TrySend(msg)
		}
		return back || err != nil
	})
	if err != nil {
		t.Error(err)
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
