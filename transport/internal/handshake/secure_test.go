package handshake

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// tcpPair returns both ends of a connection.
func tcpPair(t *testing.T) (dialed, accepted *net.TCPConn) {
	t.Helper()
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(loopback[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	accepted, err = l.AcceptTCP()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { accepted.Close() })
	return conn.(*net.TCPConn), accepted
}

// channels puts TLS between two identities and returns what each sees.
func channels(t *testing.T, dialer, listener Identity) (near, far channel) {
	t.Helper()
	a, b := tcpPair(t)
	always := func() bool { return true }
	done := make(chan error, 1)
	go func() {
		var err error
		_, far, err = overTLS(b, secured(t, listener), tls.Server, always)
		done <- err
	}()
	_, near, err := overTLS(a, secured(t, dialer), tls.Client, always)
	if err := errors.Join(err, <-done); err != nil {
		t.Fatal(err)
	}
	return near, far
}

func secured(t *testing.T, id Identity) *tls.Config {
	id.Encrypt = true
	config, err := secureConfig(id)
	if err != nil {
		t.Error(err)
	}
	return config
}

func TestTLSTrustsTheJobsCertificateOnly(t *testing.T) {
	near, far := channels(t, identity(1), identity(2))
	if !near.trusted || !far.trusted {
		t.Errorf("one job: trusted %v and %v", near.trusted, far.trusted)
	}
	other := identity(2)
	other.Secret = []byte("other secret 123")
	near, far = channels(t, identity(1), other)
	if near.trusted || far.trusted {
		t.Errorf("two secrets: trusted %v and %v", near.trusted, far.trusted)
	}
}

func TestBindingBelongsToOneConnection(t *testing.T) {
	near, far := channels(t, identity(1), identity(2))
	if near.binding != far.binding || near.binding == (channel{}).binding {
		t.Errorf("one connection is bound to %x and %x", near.binding, far.binding)
	}
	if again, _ := channels(t, identity(1), identity(2)); again.binding == near.binding {
		t.Error("two connections have one binding")
	}
}

func TestBudget(t *testing.T) {
	near, far := tcpPair(t)
	if err := far.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = near.Write(make([]byte, 3*readBudget)) }()
	spoken := 0
	b := &budget{TCPConn: far, left: readBudget, spoke: func() bool { spoken++; return true }}
	var got bytes.Buffer
	if _, err := io.Copy(&got, struct{ io.Reader }{b}); !errors.Is(err, errBudget) || got.Len() != readBudget {
		t.Errorf("%d bytes are read before %v", got.Len(), err)
	}
	if spoken != 1 {
		t.Errorf("the first bytes are told %d times", spoken)
	}
	b.lift()
	if n, err := io.CopyN(io.Discard, b, 2*readBudget); err != nil {
		t.Errorf("the rest ends after %d bytes: %v", n, err)
	}
}
