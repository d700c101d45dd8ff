package shm

import (
	"bytes"
	"encoding/binary"
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
	if sent < (ringBytes-ringDataAt-spare)/unitBytes {
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

// TestGatherAndWatch sends in two parts and takes messages one at a time, between
// those of Send and Poll.
func TestGatherAndWatch(t *testing.T) {
	w := transporttest.NewWorld(t, Provider{}, 2)
	c, err := w.Endpoints[0].Dial(t.Context(), 1, w.Endpoints[1].Addr())
	if err != nil {
		t.Fatal(err)
	}
	gather := c.(interface{ TryGather([3]uint64, []byte) bool }).TryGather
	const heads = 3 * wordBytes
	watcher := w.Endpoints[1].(interface{ Watch(int) (int, []byte) })
	if gather([3]uint64{}, nil) {
		t.Error("room in a ring that nobody has made")
	}
	longest := make([]byte, transport.MaxMessage-heads)
	if gather([3]uint64{}, append(longest, 1)) {
		t.Error("room for more than the longest message")
	}
	done := make([]transport.Completion, 1)
	next := byte(0)
	for sent := byte(0); sent < 200; sent++ {
		if sent%3 == 0 {
			if err := c.Send([]byte{sent}); err != nil {
				t.Fatal(err)
			}
		} else if body := gathering(sent); !gather([3]uint64{uint64(sent), 7, 1 << 63}, body) {
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
			want := []byte{next}
			if next%3 != 0 {
				want = binary.LittleEndian.AppendUint64(nil, uint64(next))
				want = binary.LittleEndian.AppendUint64(want, 7)
				want = binary.LittleEndian.AppendUint64(want, 1<<63)
				want = append(want, gathering(next)...)
			}
			if !bytes.Equal(msg, want) {
				t.Fatalf("message %d came, want %d", msg, want)
			}
			next++
		}
	}
	for taken := 0; ; taken++ { // a ring's room is given back by Watch as well
		if !gather([3]uint64{}, longest) {
			if taken < 10 {
				t.Errorf("only %d messages went into the ring", taken)
			}
			break
		}
	}
	for {
		if _, msg := watcher.Watch(10); msg == nil {
			break
		}
	}
	if !gather([3]uint64{}, longest) {
		t.Error("the room was not given back")
	}
	if err := w.Endpoints[1].Close(); err != nil {
		t.Fatal(err)
	}
	if gather([3]uint64{}, nil) {
		t.Error("room at a closed peer")
	}
}

// gathering is the body of a message: of every length from nothing to a few units.
func gathering(number byte) []byte {
	body := make([]byte, number)
	for i := range body {
		body[i] = number ^ byte(i)
	}
	return body
}
