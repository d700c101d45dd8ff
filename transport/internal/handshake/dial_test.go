package handshake

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A blackhole is an address that never answers: its queue of connections is full,
// so that the kernel drops what else wants to come in.
func blackhole(t *testing.T) netip.AddrPort {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	at := netip.AddrPortFrom(loopback[0].Addr(), uint16(name.(*syscall.SockaddrInet4).Port))
	for range 100 { // the kernel takes one more than it was asked to
		conn, err := net.DialTimeout("tcp", at.String(), 100*time.Millisecond)
		if e, is := errors.AsType[net.Error](err); is && e.Timeout() {
			return at
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
	}
	t.Fatal("the blackhole answers")
	panic("not reached")
}

// refusing returns an address at which nobody listens.
func refusing(t *testing.T) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// saying returns an address that answers any connection with text and hangs up
// when the other end does; "" says nothing.
func saying(t *testing.T, text string) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if _, err := conn.Write([]byte(text)); err != nil {
					return
				}
				for err == nil {
					_, err = conn.Read(make([]byte, 1000))
				}
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

func hangingUp(t *testing.T) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// Addresses that lead nowhere, that lead to others, and that say nothing, before
// the one that is right.
func TestTheRightAddressWins(t *testing.T) {
	both(t, func(t *testing.T, encrypt bool) {
		l, other := open(t, as(2, encrypt)), open(t, as(3, encrypt))
		arrivals := accepting(l)
		wrong := []netip.AddrPort{
			blackhole(t), refusing(t), saying(t, ""), saying(t, "HTTP/1.1 400 Bad Request\r\n\r\n"), hangingUp(t),
			other.Addrs()[0], netip.MustParseAddrPort("[2001:db8::1]:9"),
		}
		start := time.Now()
		near := connected(t, append(wrong, l.Addrs()...), as(1, encrypt), 2)
		t.Logf("found behind %d wrong addresses in %v", len(wrong), time.Since(start))
		far := await(t, arrivals)
		if _, err := near.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		expectBytes(t, far.conn, "x")
		nobody(t, other, accepting(other))
	})
}

// A rank that answers at all of its addresses sees one connection: the others
// are given up before they come out.
func TestOneDialIsOneConnection(t *testing.T) {
	l := open(t, identity(2), netip.MustParseAddrPort("127.0.0.1:0"), netip.MustParseAddrPort("127.0.0.2:0"))
	c, err := newCaller(identity(1), 2)
	if err != nil {
		t.Fatal(err)
	}
	// Both have proved everything before the race looks at either.
	ready := make(chan struct{}, 2)
	gate := make(chan struct{})
	all := make(chan net.Conn, 2)
	call := func(ctx context.Context, to netip.AddrPort) (proved, error) {
		p, err := c.call(ctx, to)
		all <- p.Conn
		if ready <- struct{}{}; len(ready) == 2 {
			close(gate)
		}
		<-gate
		return p, err
	}
	ctx, cancel := context.WithCancel(limited(t))
	r := race{ctx: ctx, cancel: cancel, addrs: l.Addrs(), call: call, outcomes: make(chan outcome, 2), errs: make([]error, 2)}
	conn, err := r.run()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for range 2 {
		other := <-all
		if _, err := other.Write(nil); other != conn && !errors.Is(err, net.ErrClosed) {
			t.Errorf("the connection that is not used is left open: %v", err)
		}
	}
	arrivals := accepting(l)
	await(t, arrivals)
	nobody(t, l, arrivals)
}

// What a dialer confirms it must prove too.
func TestAWrongConfirmationDoesNotComeOut(t *testing.T) {
	l := open(t, identity(2))
	arrivals := accepting(l)
	c, err := newCaller(identity(1), 2)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.call(limited(t), l.Addrs()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.confirmation[len(p.confirmation)-1]++
	if err := p.confirm(); err != nil {
		t.Fatal(err)
	}
	expectClosed(t, p)
	nobody(t, l, arrivals)
}

func TestTheErrorListsWhatEachAddressSaid(t *testing.T) {
	other := open(t, identity(3))
	me := identity(1)
	me.Timeout = 5 * time.Second // those who do answer have it, on a busy machine as well
	addrs := []netip.AddrPort{blackhole(t), refusing(t), saying(t, ""), saying(t, "SSH-2.0-OpenSSH_9.2\r\n"), hangingUp(t), other.Addrs()[0]}
	_, err := Dial(limited(t), addrs, me, 2)
	if err == nil {
		t.Fatal("somebody answers")
	}
	for _, is := range []error{os.ErrDeadlineExceeded, syscall.ECONNREFUSED, ErrRank} {
		if !errors.Is(err, is) {
			t.Errorf("%v is not %v", err, is)
		}
	}
	for i, says := range []string{
		"did not answer in time (connecting)", "connection refused", "did not answer in time (handshake)",
		`answers "SSH-2.0-"`, "hung up (handshake)", "is rank 3, not rank 2",
	} {
		part := strings.Split(err.Error(), "; ")[i]
		if !strings.Contains(part, addrs[i].String()+" ") || !strings.Contains(part, says) {
			t.Errorf("%q does not say %q of %v", part, says, addrs[i])
		}
	}
}

func TestDialEndsWithItsContext(t *testing.T) {
	both(t, func(t *testing.T, encrypt bool) {
		why := errors.New("the communicator closed")
		for name, to := range map[string]netip.AddrPort{"nowhere": blackhole(t), "silent": saying(t, "")} {
			ctx, cancel := context.WithCancelCause(limited(t))
			time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
			start := time.Now()
			_, err := Dial(ctx, []netip.AddrPort{to}, as(1, encrypt), 2)
			if !errors.Is(err, why) || !strings.Contains(err.Error(), to.String()) {
				t.Errorf("%s: %v; want %v and %v", name, err, why, to)
			}
			if took := time.Since(start); took > time.Second {
				t.Errorf("%s: Dial ends %v later", name, took)
			}
			cancel(nil)
		}
	})
}

// A listener that stops, or does not know the secret.
func TestTheListenerStops(t *testing.T) {
	challenge := encodeChallenge(nonce(1))
	accept := encodeProof(kindAccept, make([]byte, macSize))
	for name, c := range map[string]struct {
		says []byte
		is   error
	}{
		"in the challenge":     {challenge[:20], os.ErrDeadlineExceeded},
		"behind it":            {challenge, os.ErrDeadlineExceeded},
		"in its proof":         {slices.Concat(challenge, accept[:20]), os.ErrDeadlineExceeded},
		"with a proof of zero": {slices.Concat(challenge, accept), ErrSecret},
	} {
		me := identity(1)
		me.Timeout = 50 * time.Millisecond
		_, err := Dial(limited(t), []netip.AddrPort{saying(t, string(c.says))}, me, 2)
		if !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want %v", name, err, c.is)
		}
	}
}

func TestDialChecksItsArguments(t *testing.T) {
	at := []netip.AddrPort{refusing(t)}
	for name, c := range map[string]struct {
		addrs []netip.AddrPort
		me    Identity
		peer  int
		says  string
	}{
		"no address": {nil, identity(1), 2, "no address"},
		"peer":       {at, identity(1), 4, "rank 4 of 4"},
		"negative":   {at, identity(1), -1, "rank -1 of 4"},
		"secret":     {at, Identity{Rank: 1, Size: 4}, 2, "a secret of 0 bytes"},
	} {
		_, err := Dial(limited(t), c.addrs, c.me, c.peer)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
