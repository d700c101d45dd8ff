package stage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golaunch/golaunch/launcher/internal/stage/cache"
	"github.com/golaunch/golaunch/launcher/internal/stage/digest"
	"github.com/golaunch/golaunch/launcher/internal/stage/manifest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const deadline = 60 * time.Second

// A peer is a host of a test: a node that listens on loopback.
type peer struct {
	t     testing.TB
	host  Host
	cache *cache.Cache
	node  *Node
	l     net.Listener

	got    atomic.Int64 // bytes that have arrived
	wrap   func(net.Conn) net.Conn
	mu     sync.Mutex
	conns  []net.Conn
	served sync.WaitGroup
}

// dialer connects over TCP.
type dialer struct{}

func (dialer) Dial(ctx context.Context, to Host) (io.ReadWriteCloser, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", to.Addr)
	if err != nil {
		return nil, err
	}
	return c, nil
}

type setting struct {
	limit   int64
	wrap    func(net.Conn) net.Conn
	dialer  Dialer
	options Options
}

// patient options wait for nothing that a test does not bring about.
var patient = Options{Silence: deadline, DialWait: deadline, Patience: deadline, Orphan: deadline, Keep: deadline}

func newPeer(t testing.TB, name string, s setting) *peer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return servePeer(t, name, l, s)
}

func servePeer(t testing.TB, name string, l net.Listener, s setting) *peer {
	t.Helper()
	c, err := cache.Open(filepath.Join(t.TempDir(), name), cache.Options{Limit: s.limit})
	if err != nil {
		t.Fatal(err)
	}
	if s.dialer == nil {
		s.dialer = dialer{}
	}
	if s.options == (Options{}) {
		s.options = patient
	}
	p := &peer{t: t, host: Host{name, l.Addr().String()}, cache: c, l: l, wrap: s.wrap, node: NewNode(name, c, s.dialer, s.options)}
	p.served.Go(p.accept)
	t.Cleanup(p.die)
	return p
}

func (p *peer) accept() {
	for {
		c, err := p.l.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		p.conns = append(p.conns, c)
		p.mu.Unlock()
		c = counted{c, p}
		if p.wrap != nil {
			c = p.wrap(c)
		}
		p.served.Go(func() { p.node.Serve(context.Background(), c) })
	}
}

// die ends the host, as far as others can see at once.
func (p *peer) die() {
	p.l.Close()
	p.mu.Lock()
	for _, c := range p.conns {
		c.Close()
	}
	p.mu.Unlock()
	p.node.Close()
	p.served.Wait()
	p.cache.Close()
}

type counted struct {
	net.Conn
	p *peer
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.p.got.Add(int64(n))
	return n, err
}

func peers(t testing.TB, n int, s setting) ([]*peer, []Host) {
	t.Helper()
	all, hosts := make([]*peer, n), make([]Host, n)
	for i := range all {
		all[i] = newPeer(t, fmt.Sprint("host-", i), s)
		hosts[i] = all[i].host
	}
	return all, hosts
}

// has reports whether the host has verified content.
func (p *peer) has(c Content) bool {
	b, err := p.cache.Lease(c.Sum)
	if err != nil {
		return false
	}
	defer b.Close()
	return b.Size == c.Size
}

// growing is the flight of a content, and nil if there is none.
func (p *peer) growing(c Content) *flight {
	p.node.mu.Lock()
	defer p.node.mu.Unlock()
	return p.node.flights[c.Sum]
}

// awaitBytes waits until a host has more than n bytes of a content.
func (p *peer) awaitBytes(ctx context.Context, c Content, n int64) {
	p.t.Helper()
	p.await(ctx, func() bool { return p.growing(c) != nil })
	if _, err := p.growing(c).await(ctx, n); err != nil {
		p.t.Fatal(err)
	}
}

// await waits for what nobody tells of.
func (p *peer) await(ctx context.Context, what func() bool) {
	p.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !what() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			p.t.Fatalf("%s: %v", p.host.Name, ctx.Err())
		}
	}
}

// random is content that no two seeds share.
func random(seed uint64, size int) []byte {
	b := make([]byte, size)
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	r.Read(b)
	return b
}

func contentOf(b []byte) Content {
	return Content{manifest.Blob{Sum: digest.Of(b), Size: int64(len(b))}, bytes.NewReader(b)}
}

// A valve is content that can be read up to a limit, which only grows.
type valve struct {
	io.ReaderAt
	mu    sync.Mutex
	moved sync.Cond
	limit int64
}

func newValve(c Content, limit int64) (Content, *valve) {
	v := &valve{ReaderAt: c.ReaderAt, limit: limit}
	v.moved.L = &v.mu
	return Content{c.Blob, v}, v
}

func (v *valve) ReadAt(b []byte, off int64) (int, error) {
	v.mu.Lock()
	for off+int64(len(b)) > v.limit {
		v.moved.Wait()
	}
	v.mu.Unlock()
	return v.ReaderAt.ReadAt(b, off)
}

func (v *valve) open() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.limit = 1 << 62
	v.moved.Broadcast()
}

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeoutCause(t.Context(), deadline, errors.New("the test takes too long"))
	t.Cleanup(cancel)
	return ctx
}

// pushing is a push in a goroutine of its own.
func pushing(ctx context.Context, d Dialer, contents []Content, hosts []Host, o Options) (wait func() []error) {
	result := make(chan []error, 1)
	go func() { result <- Push(ctx, d, contents, hosts, o) }()
	return func() []error { return <-result }
}

func mustPush(t *testing.T, errs []error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}
