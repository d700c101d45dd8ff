package transporttest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/transporttest"
)

var errTold = errors.New("told to fail")

// dial opens a world on p and returns a connection from rank 0 to rank 1, and a
// region of rank 1.
func dial(t *testing.T, p transport.Provider) (*transporttest.World, transport.Conn, transport.Remote) {
	t.Helper()
	w := transporttest.NewWorld(t, p, 2)
	c, err := w.Endpoints[0].Dial(t.Context(), 1, w.Endpoints[1].Addr())
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.Endpoints[1].Register(w.Job.Alloc(1, 64))
	if err != nil {
		t.Fatal(err)
	}
	return w, c, r.Remote()
}

func TestFailingWithoutFaultsKeepsTheContract(t *testing.T) {
	transporttest.Run(t, func(t testing.TB, size int) *transporttest.World {
		return transporttest.NewWorld(t, transporttest.NewFailing(transporttest.NewReference(), size), size)
	})
}

func TestFailingOperation(t *testing.T) {
	f := transporttest.NewFailing(transporttest.NewReference(), 2, transporttest.Fault{Rank: 0, Operation: 3, Err: errTold})
	_, c, r := dial(t, f)
	word := []byte("12345678")
	for k := 1; k <= 5; k++ {
		err := c.Put(transport.Remote{Key: r.Key, Offset: int64(8 * k), Len: 8}, word, 0)
		if errors.Is(err, errTold) != (k == 3) {
			t.Errorf("operation %d: %v", k, err)
		}
	}
	got := make([]byte, 64)
	if err := c.Get(got, r, 0); err != nil {
		t.Fatal(err)
	}
	for k := 1; k <= 5; k++ {
		if took := string(got[8*k:8*k+8]) == string(word); took != (k != 3) {
			t.Errorf("operation %d took effect: %v", k, took)
		}
	}
}

func TestFailingLate(t *testing.T) {
	f := transporttest.NewFailing(transporttest.NewReference(), 2, transporttest.Fault{Rank: 0, Operation: 2, Late: true, Err: errTold})
	w, c, r := dial(t, f)
	for op := range transport.OpID(3) {
		if err := c.Put(r, make([]byte, 8), op+1); err != nil {
			t.Fatal(err)
		}
	}
	done := make([]transport.Completion, 8)
	n, err := w.Endpoints[0].Poll(done)
	if n != 3 || err != nil {
		t.Fatal(n, err)
	}
	for _, d := range done[:n] {
		if errors.Is(d.Err, errTold) != (d.Op == 2) || d.Rank != 1 {
			t.Errorf("completion %+v", d)
		}
	}
}

func TestFailingMessage(t *testing.T) {
	f := transporttest.NewFailing(transporttest.NewReference(), 2, transporttest.Fault{Rank: 0, Message: 2})
	w, c, _ := dial(t, f)
	for k, want := range []error{nil, transport.ErrPeerFailed, nil} {
		if err := c.Send([]byte{byte(k)}); !errors.Is(err, want) {
			t.Errorf("message %d: %v, want %v", k+1, err, want)
		}
	}
	done := make([]transport.Completion, 8)
	n, err := w.Endpoints[1].Poll(done)
	if n != 2 || err != nil || done[0].Message[0] != 0 || done[1].Message[0] != 2 {
		t.Errorf("%d messages arrived, %v: %v", n, err, done[:n])
	}
}

// TestKill: a blocked Send ends, later calls fail, and the dead rank's own too.
func TestKill(t *testing.T) {
	f := transporttest.NewFailing(transporttest.NewReference(), 2)
	w, c, r := dial(t, f)
	back, err := w.Endpoints[1].Dial(t.Context(), 0, w.Endpoints[0].Addr())
	if err != nil {
		t.Fatal(err)
	}
	result := make(chan error, 1)
	go func() {
		for {
			if err := c.Send(make([]byte, 4096)); err != nil {
				result <- err
				return
			}
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := w.Job.AwaitBlocked(ctx, 0, 1); err != nil {
		t.Fatal(err)
	}
	f.Kill(1)
	if err := <-result; !errors.Is(err, transport.ErrPeerFailed) {
		t.Errorf("blocked Send: %v", err)
	}
	if err := c.Put(r, make([]byte, 8), 0); !errors.Is(err, transport.ErrPeerFailed) {
		t.Errorf("Put to a dead rank: %v", err)
	}
	if err := back.Send(nil); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("Send of a dead rank: %v", err)
	}
	if _, err := w.Endpoints[1].Poll(nil); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("Poll of a dead rank: %v", err)
	}
}
