package handshake

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

func stranger(t *testing.T, l *Listener) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", l.Addrs()[0].String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func limitedTo(rank int, encrypt bool, timeout time.Duration) Identity {
	id := as(rank, encrypt)
	id.Timeout = timeout
	return id
}

// Whatever a stranger does, it is hung up on, and nothing comes out.
func TestStrangers(t *testing.T) {
	hello := newDialing(identity(1), nil, channel{}, 2, nonce(1)).hello()
	both(t, func(t *testing.T, encrypt bool) {
		for name, act := range map[string]func(net.Conn) error{
			"silent": func(net.Conn) error { return nil },
			"http": func(c net.Conn) error {
				_, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
				return err
			},
			"half a hello": func(c net.Conn) error { _, err := c.Write(hello[:90]); return err },
			"hello and no proof": func(c net.Conn) error {
				_, err := c.Write(hello)
				return err
			},
			"half closed": func(c net.Conn) error { return c.(*net.TCPConn).CloseWrite() },
			"byte by byte": func(c net.Conn) error {
				for _, b := range hello[:20] {
					if _, err := c.Write([]byte{b}); err != nil {
						return err
					}
				}
				return nil
			},
			"tls that is none": func(c net.Conn) error {
				_, err := c.Write(append([]byte("\x16\x03\x01\x40\x00"), make([]byte, 10)...))
				return err
			},
		} {
			l := open(t, limitedTo(2, encrypt, 50*time.Millisecond))
			arrivals := accepting(l)
			conn := stranger(t, l)
			if err := act(conn); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
				t.Fatal(err)
			}
			_, err := io.Copy(io.Discard, conn)
			if e, is := errors.AsType[net.Error](err); is && e.Timeout() {
				t.Errorf("%s: nobody hangs up", name)
			}
			nobody(t, l, arrivals)
		}
	})
}

// A stranger that talks TLS without end is cut off by the budget, not by time.
func TestTLSThatSaysTooMuch(t *testing.T) {
	l := open(t, limitedTo(2, true, time.Hour))
	conn := stranger(t, l)
	record := append([]byte("\x16\x03\x01\x40\x00\x01\x00\xff\xff"), make([]byte, 1<<14-4)...)
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	var err error
	for range 1000 {
		if _, err = conn.Write(record); err != nil {
			break
		}
	}
	if e, is := errors.AsType[net.Error](err); err == nil || is && e.Timeout() {
		t.Errorf("16 MiB of a TLS handshake are taken: %v", err)
	}
}

// A dialer that stops after any number of bytes, recorded from a real handshake,
// does not come out, and neither does one that plays the recording again.
func TestTheDialerStopsOrReplays(t *testing.T) {
	l := open(t, identity(2))
	arrivals := accepting(l)
	tap := newTap(t, l.Addrs()[0])
	connected(t, tap.addrs(), identity(1), 2)
	await(t, arrivals)
	said := tap.said()
	if len(said) != helloSize+2*proofSize {
		t.Fatalf("the dialer said %d bytes", len(said))
	}
	for n := 0; n <= len(said); n += 7 {
		conn := stranger(t, l)
		if _, err := conn.Write(said[:n]); err != nil && n <= helloSize+proofSize {
			t.Fatal(err)
		}
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil && n <= helloSize {
			t.Fatal(err)
		}
		expectEnd(t, conn)
	}
	whole := stranger(t, l)
	_, _ = whole.Write(said) // the listener may have hung up before its end
	answer := expectEnd(t, whole)
	if !bytes.Contains(answer, []byte{byte(kindRefusal), byte(reasonSecret)}) {
		t.Errorf("a recording is answered with %x", answer)
	}
	nobody(t, l, arrivals)
}

// expectEnd reads until the other end hangs up.
func expectEnd(t *testing.T, conn net.Conn) []byte {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(conn)
	if e, is := errors.AsType[net.Error](err); is && e.Timeout() {
		t.Fatal("nobody hangs up")
	}
	return said
}

// A tap carries connections to an address and keeps what the dialer says.
type tap struct {
	listener net.Listener
	done     sync.WaitGroup
	mu       sync.Mutex
	bytes    bytes.Buffer
}

func newTap(t *testing.T, to netip.AddrPort) *tap {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &tap{listener: l}
	p.done.Go(func() {
		near, err := l.Accept()
		if err != nil {
			return
		}
		defer near.Close()
		far, err := net.Dial("tcp", to.String())
		if err != nil {
			t.Error(err)
			return
		}
		defer far.Close()
		p.done.Go(func() { _, _ = io.Copy(near, far); near.Close() })
		_, _ = io.Copy(io.MultiWriter(p, far), near)
	})
	t.Cleanup(func() { l.Close(); p.done.Wait() })
	return p
}

func (p *tap) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes.Write(b)
}

func (p *tap) said() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Clone(p.bytes.Bytes())
}

func (p *tap) addrs() []netip.AddrPort {
	return []netip.AddrPort{p.listener.Addr().(*net.TCPAddr).AddrPort()}
}

// Rank 1 dials a stranger, which carries everything to rank 1's own listener: the
// answers to rank 1's challenge would come from rank 1 itself.
func TestARankIsNotReflectedToItself(t *testing.T) {
	both(t, func(t *testing.T, encrypt bool) {
		l := open(t, as(1, encrypt))
		arrivals := accepting(l)
		mirror := newTap(t, l.Addrs()[0])
		if _, err := Dial(limited(t), mirror.addrs(), as(1, encrypt), 2); !errors.Is(err, ErrRank) {
			t.Errorf("rank 1 in the mirror passes for rank 2: %v", err)
		}
		nobody(t, l, arrivals)
	})
}

// However many come, only so many are held, and the oldest goes first.
func TestRoomForStrangersIsLimited(t *testing.T) {
	l := open(t, limitedTo(2, false, time.Hour))
	var all []net.Conn
	for range maxPending + 50 {
		all = append(all, stranger(t, l))
	}
	for _, conn := range all[:50] {
		expectClosed(t, conn)
	}
	if n := l.peak(); n != maxPending {
		t.Errorf("%d strangers at once", n)
	}
}

func (l *Listener) peak() int {
	l.pending.mu.Lock()
	defer l.pending.mu.Unlock()
	return l.pending.peak
}

// liars opens n connections that claim to be rank 1 and prove nothing.
func liars(t *testing.T, l *Listener, n int) []net.Conn {
	t.Helper()
	hello := newDialing(identity(1), nil, channel{}, 2, nonce(1)).hello()
	var all []net.Conn
	for range n {
		liar := stranger(t, l)
		if _, err := liar.Write(hello); err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(io.Discard, liar, int64(challengeSize)); err != nil {
			t.Fatal(err)
		}
		all = append(all, liar)
	}
	return all
}

// Those that have come less far go first, but not below their share.
func TestWhoIsDropped(t *testing.T) {
	l := open(t, limitedTo(2, false, time.Hour))
	first := stranger(t, l)
	liars := liars(t, l, maxPending+9)
	for _, liar := range liars[:10] {
		expectClosed(t, liar)
	}
	for range fairShare {
		stranger(t, l) // in the place of a liar
	}
	for _, liar := range liars[10 : 10+fairShare] {
		expectClosed(t, liar)
	}
	stillOpen(t, append(liars[10+fairShare:], first))
	stranger(t, l) // one more than their share
	expectClosed(t, first)
	stillOpen(t, liars[10+fairShare:])
}

// stillOpen checks that nothing has come, and no hangup either.
func stillOpen(t *testing.T, all []net.Conn) {
	t.Helper()
	for _, conn := range all {
		if err := conn.SetReadDeadline(time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("a connection is dropped: %v", err)
		}
	}
}

// A rank dials, again and again, while strangers open ten thousand connections.
func TestARankAmongTenThousandStrangers(t *testing.T) {
	both(t, func(t *testing.T, encrypt bool) {
		l := open(t, as(2, encrypt))
		arrivals := accepting(l)
		before := runtime.NumGoroutine()
		flood := startFlood(t, l.Addrs()[0], 10_000)
		var took []time.Duration
		for more := true; more; {
			select {
			case <-flood:
				more = false
			default:
				start := time.Now()
				connected(t, l.Addrs(), as(1, encrypt), 2).Close()
				await(t, arrivals).conn.Close()
				took = append(took, time.Since(start))
			}
		}
		slices.Sort(took)
		t.Logf("%d connections; median %v, 99 in 100 within %v, longest %v; %d goroutines more", len(took),
			took[len(took)/2], took[len(took)*99/100], took[len(took)-1], runtime.NumGoroutine()-before)
		if median := took[len(took)/2]; median > 100*time.Millisecond {
			t.Errorf("a rank takes %v to connect", median)
		}
		if n := l.peak(); n > maxPending {
			t.Errorf("%d strangers at once", n)
		}
	})
}

// startFlood opens n connections of all kinds and keeps them, but for the scans.
// The returned channel is closed after the last one.
func startFlood(t *testing.T, to netip.AddrPort, n int) <-chan struct{} {
	t.Helper()
	hello := newDialing(identity(1), nil, channel{}, 2, nonce(1)).hello()
	says := [][]byte{nil, []byte("GET / HTTP/1.1\r\n\r\n"), hello[:1], hello, nil}
	done := make(chan struct{})
	var all []net.Conn
	go func() {
		defer close(done)
		for i := range n {
			conn, err := net.Dial("tcp", to.String())
			if errors.Is(err, syscall.ECONNRESET) {
				continue // dropped before it knew that it was in
			} else if err != nil {
				t.Errorf("after %d connections: %v", i, err)
				return
			}
			// The listener may have dropped it by now.
			_, _ = conn.Write(says[i%len(says)])
			if i%len(says) == len(says)-1 {
				conn.Close()
				continue
			}
			all = append(all, conn)
		}
	}()
	t.Cleanup(func() {
		<-done
		for _, conn := range all {
			conn.Close()
		}
	})
	return done
}
