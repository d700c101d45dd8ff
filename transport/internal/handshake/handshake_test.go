package handshake

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

var loopback = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")}

func limited(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// open listens as me and closes at the test's end.
func open(t *testing.T, me Identity, at ...netip.AddrPort) *Listener {
	t.Helper()
	if len(at) == 0 {
		at = loopback
	}
	l, err := Listen(me, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// accepting collects what comes out of a listener.
func accepting(l *Listener) <-chan arrival {
	all := make(chan arrival, 100)
	go func() {
		defer close(all)
		for {
			conn, peer, err := l.Accept()
			if err != nil {
				return
			}
			all <- arrival{conn, peer}
		}
	}()
	return all
}

// await returns what comes out next.
func await(t *testing.T, from <-chan arrival) arrival {
	t.Helper()
	select {
	case a := <-from:
		if a.conn == nil {
			t.Fatal("the listener is closed")
		}
		t.Cleanup(func() { a.conn.Close() })
		return a
	case <-time.After(patience):
		t.Fatal("nobody comes out of the listener")
	}
	panic("not reached")
}

// nobody checks that after closing nothing has come out.
func nobody(t *testing.T, l *Listener, from <-chan arrival) {
	t.Helper()
	l.Close()
	for a := range from {
		t.Errorf("rank %d comes out of the listener", a.peer)
		a.conn.Close()
	}
}

func connected(t *testing.T, addrs []netip.AddrPort, me Identity, peer int) net.Conn {
	t.Helper()
	conn, err := Dial(limited(t), addrs, me, peer)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// both runs a test with and without encryption.
func both(t *testing.T, test func(t *testing.T, encrypt bool)) {
	t.Run("plain", func(t *testing.T) { test(t, false) })
	t.Run("encrypted", func(t *testing.T) { test(t, true) })
}

func as(rank int, encrypt bool) Identity {
	id := identity(rank)
	id.Encrypt = encrypt
	return id
}

func TestConnectionsCarryDataBothWays(t *testing.T) {
	both(t, func(t *testing.T, encrypt bool) {
		l := open(t, as(2, encrypt))
		arrivals := accepting(l)
		near := connected(t, l.Addrs(), as(1, encrypt), 2)
		// At once, so that it may share a segment or a record with the last frame.
		if _, err := near.Write([]byte("early")); err != nil {
			t.Fatal(err)
		}
		far := await(t, arrivals)
		if far.peer != 1 {
			t.Errorf("the listener has rank %d, want 1", far.peer)
		}
		expectBytes(t, far.conn, "early")
		if _, err := far.conn.Write([]byte("late")); err != nil {
			t.Fatal(err)
		}
		expectBytes(t, near, "late")
		for _, conn := range []net.Conn{near, far.conn} {
			checkSocket(t, conn, encrypt)
		}
	})
}

func expectBytes(t *testing.T, r net.Conn, want string) {
	t.Helper()
	impatient := time.AfterFunc(patience, func() { r.Close() }) // not a deadline: one is looked for
	defer impatient.Stop()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r, got); err != nil || string(got) != want {
		t.Errorf("%q arrives as %q, %v", want, got, err)
	}
}

// checkSocket checks what the documentation says about a connection.
func checkSocket(t *testing.T, conn net.Conn, encrypt bool) {
	t.Helper()
	tcp, plain := conn.(*net.TCPConn)
	if plain == encrypt {
		t.Errorf("encrypt is %v, and the connection a %T", encrypt, conn)
	}
	var raw syscall.Conn = tcp
	if encrypt {
		raw = conn.(*tls.Conn).NetConn().(syscall.Conn)
	}
	control, err := raw.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = control.Control(func(fd uintptr) {
		for _, c := range []struct{ level, option, want int }{
			{syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1},
			{syscall.SOL_SOCKET, syscall.SO_KEEPALIVE, 0},
			{syscall.SOL_SOCKET, 38 /* SO_PROTOCOL */, syscall.IPPROTO_TCP},
		} {
			if got, err := syscall.GetsockoptInt(int(fd), c.level, c.option); err != nil || got != c.want {
				t.Errorf("socket option %d/%d is %d, %v; want %d", c.level, c.option, got, err, c.want)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What a TLS connection may receive is limited only until it is known.
func TestMuchDataPasses(t *testing.T) {
	both(t, func(t *testing.T, encrypt bool) {
		l := open(t, as(2, encrypt))
		arrivals := accepting(l)
		near := connected(t, l.Addrs(), as(1, encrypt), 2)
		far := await(t, arrivals).conn
		for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
			written := make(chan error, 1)
			go func() {
				_, err := way[0].Write(make([]byte, 10*readBudget))
				written <- err
			}()
			if _, err := io.CopyN(io.Discard, way[1], 10*readBudget); err != nil {
				t.Error(err)
			}
			if err := <-written; err != nil {
				t.Error(err)
			}
		}
	})
}

// The handshake's deadline does not stay with the connection.
func TestConnectionsHaveNoDeadline(t *testing.T) {
	both(t, func(t *testing.T, encrypt bool) {
		const timeout = 50 * time.Millisecond
		me := as(2, encrypt)
		me.Timeout = timeout
		l := open(t, me)
		arrivals := accepting(l)
		me.Rank = 1
		near := connected(t, l.Addrs(), me, 2)
		far := await(t, arrivals).conn
		for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
			written := make(chan error, 1)
			time.AfterFunc(2*timeout, func() {
				_, err := way[0].Write([]byte("late"))
				written <- err
			})
			expectBytes(t, way[1], "late")
			if err := <-written; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestARankDialsItself(t *testing.T) {
	both(t, func(t *testing.T, encrypt bool) {
		l := open(t, as(2, encrypt))
		arrivals := accepting(l)
		connected(t, l.Addrs(), as(2, encrypt), 2)
		if a := await(t, arrivals); a.peer != 2 {
			t.Errorf("the listener has rank %d, want 2", a.peer)
		}
	})
}

// The same refusals as in the machines' test, over a wire that closes.
func TestRefusedOverTheWire(t *testing.T) {
	both(t, func(t *testing.T, encrypt bool) {
		for name, c := range map[string]struct {
			change func(*Identity)
			is     error
			says   string
		}{
			"version":    {func(id *Identity) { id.Version = "1.3.0" }, ErrVersion, `is version "1.3.0", rank 1 is version "1.2.0"`},
			"job":        {func(id *Identity) { id.Job = "other"; id.Secret = []byte("other secret 123") }, ErrJob, `job "other", rank 1 to job "heat-1"`},
			"size":       {func(id *Identity) { id.Size = 8 }, ErrJob, "counts 8 ranks"},
			"rank":       {func(id *Identity) { id.Rank = 3 }, ErrRank, "is rank 3, not rank 2"},
			"secret":     {func(id *Identity) { id.Secret = []byte("other secret 123") }, ErrSecret, "secret"},
			"encryption": {func(id *Identity) { id.Encrypt = !encrypt }, ErrEncryption, "encrypt"},
		} {
			me := as(2, encrypt)
			c.change(&me)
			l := open(t, me)
			arrivals := accepting(l)
			_, err := Dial(limited(t), l.Addrs(), as(1, encrypt), 2)
			if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) ||
				!strings.HasPrefix(err.Error(), "rank 1: connecting to rank 2: 127.0.0.1:") {
				t.Errorf("%s: %v; want %v that says %s", name, err, c.is, c.says)
			}
			nobody(t, l, arrivals)
		}
	})
}

func TestCloseEndsAccept(t *testing.T) {
	l := open(t, identity(2))
	ended := make(chan error)
	go func() {
		_, _, err := l.Accept()
		ended <- err
	}()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("a waiting Accept returns %v", err)
	}
	if _, _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept after Close returns %v", err)
	}
	if err := l.Close(); err != nil {
		t.Errorf("the second Close returns %v", err)
	}
}

// Close ends what is under way: a connection that says nothing, and one that is
// finished and that nobody takes.
func TestCloseEndsHandshakes(t *testing.T) {
	both(t, func(t *testing.T, encrypt bool) {
		l := open(t, as(2, encrypt))
		still, err := net.Dial("tcp", l.Addrs()[0].String())
		if err != nil {
			t.Fatal(err)
		}
		defer still.Close()
		finished := connected(t, l.Addrs(), as(1, encrypt), 2)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		for _, conn := range []net.Conn{still, finished} {
			expectClosed(t, conn)
		}
	})
}

func expectClosed(t *testing.T, conn net.Conn) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1)); n != 0 || err == nil || errors.Is(err, syscall.EAGAIN) {
		t.Errorf("the connection is not closed: %d bytes, %v", n, err)
	} else if netErr, is := errors.AsType[net.Error](err); is && netErr.Timeout() {
		t.Error("the connection is not closed")
	}
}

func TestAddressesHaveOnePort(t *testing.T) {
	at := []netip.AddrPort{
		netip.MustParseAddrPort("127.0.0.1:0"),
		netip.MustParseAddrPort("127.0.0.2:0"),
		netip.MustParseAddrPort("[2001:db8::77]:0"), // nobody has this one
	}
	l := open(t, identity(2), at...)
	addrs := l.Addrs()
	if len(addrs) != 2 || addrs[0].Port() == 0 || addrs[0].Port() != addrs[1].Port() {
		t.Fatalf("listens at %v", addrs)
	}
	arrivals := accepting(l)
	for _, a := range addrs {
		connected(t, []netip.AddrPort{a}, identity(1), 2)
		await(t, arrivals)
	}
}

func TestEveryAddress(t *testing.T) {
	l := open(t, identity(2), netip.MustParseAddrPort("[::]:0"))
	arrivals := accepting(l)
	connected(t, []netip.AddrPort{netip.AddrPortFrom(loopback[0].Addr(), l.Addrs()[0].Port())}, identity(1), 2)
	await(t, arrivals)
}

func TestListenErrors(t *testing.T) {
	taken := open(t, identity(2)).Addrs()
	for name, c := range map[string]struct {
		me   Identity
		at   []netip.AddrPort
		says string
	}{
		"no address":       {identity(2), nil, "no address"},
		"no such address":  {identity(2), []netip.AddrPort{netip.MustParseAddrPort("[2001:db8::77]:0")}, "2001:db8::77"},
		"port taken":       {identity(2), taken, "in use"},
		"no secret at all": {Identity{Size: 4, Rank: 2}, loopback, "secret"},
	} {
		l, err := Listen(c.me, c.at)
		if err == nil {
			l.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "rank 2: listening: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
