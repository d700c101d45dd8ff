package shm

import (
	"fmt"
	"testing"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/transporttest"
)

// What a Put, a Get and an atomic cost through the Conn; a Put on mapped memory is
// a bounds check and a copy, and is measured by package window.

func benchmarkWorld(b *testing.B, size int) (*transporttest.World, transport.Conn, transport.Remote) {
	w := transporttest.NewWorld(b, Provider{}, 2, transporttest.WithMemory(mapped(b)))
	c, err := w.Endpoints[0].Dial(b.Context(), 1, w.Endpoints[1].Addr())
	check(b, err)
	r, err := w.Endpoints[1].Register(w.Job.Alloc(1, size))
	check(b, err)
	return w, c, r.Remote()
}

var benchmarkSizes = []int{8, 1 << 10, 64 << 10, 1 << 20}

func BenchmarkPut(b *testing.B) {
	for _, size := range benchmarkSizes {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			_, c, r := benchmarkWorld(b, size)
			src := make([]byte, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if err := c.Put(r, src, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkGet(b *testing.B) {
	for _, size := range benchmarkSizes {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			_, c, r := benchmarkWorld(b, size)
			dst := make([]byte, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if err := c.Get(dst, r, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFetchAdd(b *testing.B) {
	_, c, r := benchmarkWorld(b, 8)
	var old uint64
	b.ReportAllocs()
	for b.Loop() {
		if err := c.FetchAdd(r, 1, &old, 0); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPutCompletion is a Put with an OpID and the Poll that reports it.
func BenchmarkPutCompletion(b *testing.B) {
	w, c, r := benchmarkWorld(b, 8)
	src, done := make([]byte, 8), make([]transport.Completion, 4)
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Put(r, src, 1); err != nil {
			b.Fatal(err)
		}
		if n, err := w.Endpoints[0].Poll(done); n != 1 || err != nil {
			b.Fatal(n, err)
		}
	}
}

// BenchmarkSendPoll is what both sides of a message cost one core together.
func BenchmarkSendPoll(b *testing.B) {
	w, c, _ := benchmarkWorld(b, 8)
	msg, done := make([]byte, 8), make([]transport.Completion, 4)
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Send(msg); err != nil {
			b.Fatal(err)
		}
		if n, err := w.Endpoints[1].Poll(done); n != 1 || err != nil {
			b.Fatal(n, err)
		}
	}
}

// BenchmarkPollNothing is what a spinning rank pays for each look.
func BenchmarkPollNothing(b *testing.B) {
	for _, rings := range []int{0, 1, 15} {
		b.Run(fmt.Sprintf("rings=%d", rings), func(b *testing.B) {
			w := transporttest.NewWorld(b, Provider{}, 16, transporttest.WithMemory(mapped(b)))
			done := make([]transport.Completion, 4)
			for from := range rings {
				c, err := w.Endpoints[from+1].Dial(b.Context(), 0, w.Endpoints[0].Addr())
				check(b, err)
				check(b, c.Send(nil))
				_, err = w.Endpoints[0].Poll(done)
				check(b, err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if n, err := w.Endpoints[0].Poll(done); n != 0 || err != nil {
					b.Fatal(n, err)
				}
			}
		})
	}
}
