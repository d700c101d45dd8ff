package verbs

import (
	"context"
	"fmt"
	"testing"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/transporttest"
)

// pair is two ranks of this process, of which the benchmark is one that polls.
type pair struct {
	b        testing.TB
	from     transport.Endpoint
	conn     transport.Conn
	far      transport.Remote
	near     []byte // registered at the origin
	there    []byte // what far is
	endpoint [2]transport.Endpoint
	done     [16]transport.Completion
}

func newPair(b testing.TB, bytes int) *pair {
	w := transporttest.NewWorld(b, provider(b), 2)
	p := &pair{b: b, from: w.Endpoints[0], near: make([]byte, bytes), there: make([]byte, bytes)}
	p.endpoint = [2]transport.Endpoint(w.Endpoints)
	far, err := w.Endpoints[1].Register(0, 0, p.there)
	check(b, err)
	p.far = far.Remote()
	_, err = p.from.Register(0, 0, p.near)
	check(b, err)
	p.conn, err = p.from.Dial(context.Background(), 1, w.Endpoints[1].Addr())
	check(b, err)
	return p
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// settle polls until one completion has come.
func (p *pair) settle() {
	for {
		n, err := p.from.Poll(p.done[:])
		check(p.b, err)
		if n > 0 {
			check(p.b, p.done[0].Err)
			return
		}
	}
}

// BenchmarkOperations is each operation and its completion, while the origin polls and
// the target does nothing.
func BenchmarkOperations(b *testing.B) {
	p := newPair(b, 1<<20)
	for _, size := range []int{8, 64, 4096, 64 << 10, 1 << 20} {
		far, heap := p.far, make([]byte, size)
		far.Len = int64(size)
		for name, operate := range map[string]func() error{
			"Put registered": func() error { return p.conn.Put(far, p.near[:size], 1) },
			"Put heap":       func() error { return p.conn.Put(far, heap, 1) },
			"Get registered": func() error { return p.conn.Get(p.near[:size], far, 1) },
			"Get heap":       func() error { return p.conn.Get(heap, far, 1) },
		} {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					check(b, operate())
					p.settle()
				}
			})
		}
	}
	word := p.far
	word.Len = 8
	b.Run("FetchAdd", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			check(b, p.conn.FetchAdd(word, 1, nil, 1))
			p.settle()
		}
	})
	b.Run("Put and Flush/8", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			check(b, p.conn.Put(word, p.near[:8], 0))
			check(b, p.conn.Flush(1))
			p.settle()
		}
	})
}
