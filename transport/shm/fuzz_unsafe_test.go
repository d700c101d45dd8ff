package shm

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"
	"unsafe"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/transporttest"
)

// FuzzConsumer reads a ring that holds whatever the fuzzer likes: messages lie
// inside the data, and the reading ends.
func FuzzConsumer(f *testing.F) {
	for _, lengths := range [][]int{{}, {0, 5, 16}, {100, 3}} {
		p, _ := newRing(f, 256)
		for k, n := range lengths {
			if _, err := p.offer(exploreMessage(k, n)); err != nil {
				f.Fatal(err)
			}
		}
		f.Add(p.data.bytes, uint16(0))
	}
	f.Add(binary.LittleEndian.AppendUint64(make([]byte, 56), uint64(makePad(0, 0))), uint16(56))
	f.Add(binary.LittleEndian.AppendUint64(nil, uint64(makeHeader(0, 1<<32-1))), uint16(0))
	f.Fuzz(func(t *testing.T, data []byte, at uint16) {
		_, c := newRing(t, max(64, len(data)&^7))
		copy(c.data.bytes, data)
		c.at = int(at) % len(c.data.bytes) &^ 7
		for messages := 0; ; messages++ {
			msg, ok, err := c.take()
			if err != nil || !ok {
				return
			}
			if !inside(c.data.bytes, msg) || len(msg) > transport.MaxMessage {
				t.Fatalf("a message of %d bytes does not lie in the ring", len(msg))
			}
			if messages > len(c.data.bytes)/wordBytes {
				t.Fatal("more messages than fit without a release")
			}
		}
	})
}

func inside(whole, part []byte) bool {
	first := uintptr(unsafe.Pointer(unsafe.SliceData(whole)))
	at := uintptr(unsafe.Pointer(unsafe.SliceData(part)))
	return at >= first && at+uintptr(cap(part)) <= first+uintptr(len(whole))
}

func FuzzAddress(f *testing.F) {
	f.Add(encodeAddress(1, transport.Remote{Key: 7, Offset: 64, Len: 1000}), 1)
	f.Add([]byte("shm1"), 1)
	f.Fuzz(func(t *testing.T, addr []byte, rank int) {
		place, err := decodeAddress(rank, addr)
		if err != nil {
			return
		}
		if back := encodeAddress(rank, place); string(back) != string(addr) {
			t.Errorf("%x decodes to %+v and back to %x", addr, place, back)
		}
	})
}

// FuzzPeerMemory lets a peer write anything over one of the pieces of memory it
// shares: every operation ends, with a result or an error.
func FuzzPeerMemory(f *testing.F) {
	for piece := range byte(5) {
		f.Add(piece, uint16(0), []byte{})
		f.Add(piece, uint16(0), binary.LittleEndian.AppendUint64(nil, ^uint64(0)))
		f.Add(piece, uint16(128), binary.LittleEndian.AppendUint64(nil, 1<<63))
		f.Add(piece, uint16(256), binary.LittleEndian.AppendUint64(nil, uint64(makeHeader(3, 1<<31))))
	}
	f.Fuzz(func(t *testing.T, piece byte, at uint16, garbage []byte) {
		w := newHostileWorld(t)
		target := w.pieces[int(piece)%len(w.pieces)]
		copy(target[min(int(at), len(target)):], garbage)
		w.useEverything(t)
	})
}

// A hostileWorld is rank 0, dialled to a rank 1 whose memory is not to be
// trusted.
type hostileWorld struct {
	e      transport.Endpoint
	addr   []byte
	remote transport.Remote
	pieces [][]byte // of either rank: control blocks, region, directory chunk, ring
}

func newHostileWorld(t testing.TB) *hostileWorld {
	var w hostileWorld
	job := transporttest.NewJob(2, func(n int) []byte {
		b := make([]byte, n+64)
		w.pieces = append(w.pieces, b)
		return b[:n:n]
	})
	open := func(rank int) *endpoint {
		cfg := job.Config(rank)
		cfg.Wait = func(context.Context, int, func() bool) error { return fmt.Errorf("would block") }
		e, err := Provider{ringBytes: ringMinBytes}.open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		return e
	}
	e0, e1 := open(0), open(1)
	w.e, w.addr = e0, e1.Addr()
	key, offset, mem := job.Alloc(1, 64)
	region, err := e1.Register(key, offset, mem)
	if err != nil {
		t.Fatal(err)
	}
	w.remote = region.Remote()
	c, err := e1.Dial(t.Context(), 0, e0.Addr())
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if err := c.Send(make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
	}
	return &w
}

// useEverything does all that reads what rank 1 wrote. Errors are expected,
// panics are not.
func (w *hostileWorld) useEverything(t *testing.T) {
	done := make([]transport.Completion, 8)
	for range 3 {
		n, _ := w.e.Poll(done)
		for _, c := range done[:n] {
			_ = append([]byte(nil), c.Message...)
		}
	}
	c, err := w.e.Dial(t.Context(), 1, w.addr)
	if err != nil {
		return
	}
	b := make([]byte, 64)
	_ = c.Put(w.remote, b, 0)
	_ = c.Get(b, w.remote, 0)
	_ = c.FetchAdd(w.remote, 1, nil, 1)
	_ = c.CompareSwap(w.remote, 1, 2, nil, 2)
	for range 40 {
		_ = c.Send(b)
	}
	_ = c.Flush(3)
	_, _ = w.e.(transport.Mapper).Map(1, w.remote)
}
