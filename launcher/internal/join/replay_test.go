package join

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// A tap stands between a caller and a listener: it keeps what the caller sends, and
// changes a byte of it once it is told to.
type tap struct {
	front net.Listener
	to    string

	mu     sync.Mutex
	kept   bytes.Buffer
	change bool
}

func newTap(t *testing.T, to string) *tap {
	t.Helper()
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &tap{front: front, to: to}
	var done sync.WaitGroup
	done.Go(p.pass)
	t.Cleanup(func() { front.Close(); done.Wait() })
	return p
}

func (p *tap) pass() {
	from, err := p.front.Accept()
	if err != nil {
		return
	}
	defer from.Close()
	to, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer to.Close()
	var back sync.WaitGroup
	back.Go(func() { io.Copy(from, to); from.Close() })
	io.Copy(struct{ io.Writer }{to}, readerFunc(func(b []byte) (int, error) {
		n, err := from.Read(b)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.kept.Write(b[:n])
		if p.change && n > 0 {
			b[n/2] ^= 1
			p.change = false
		}
		return n, err
	}))
	to.Close()
	back.Wait()
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// connected is both ends of a good connection through a tap.
func connected(t *testing.T, l *Listener) (p *tap, caller, accepted net.Conn) {
	t.Helper()
	p, conns := newTap(t, l.Addr().String()), accept(l)
	caller, err := Dial(t.Context(), p.front.Addr().String(), goodKey, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { caller.Close() })
	accepted = within(t, "the accepted connection", conns)
	t.Cleanup(func() { accepted.Close() })
	return p, caller, accepted
}

func say(t *testing.T, from, to net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(from, text); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(text))
	if _, err := io.ReadFull(to, got); err != nil || string(got) != text {
		t.Fatalf("%q, %v", got, err)
	}
}

// What a host has sent before, proof and message, opens nothing when somebody else
// sends it again.
func TestReplayedBytesAreRefused(t *testing.T) {
	l, refused := listen(t)
	p, caller, accepted := connected(t, l)
	say(t, caller, accepted, "end the job")
	again, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	p.mu.Lock()
	_, err = again.Write(p.kept.Bytes())
	p.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	within(t, "the refusal", refused)
}

// A message that was changed on its way is not heard: it ends the connection.
func TestChangedBytesAreRefused(t *testing.T) {
	l, _ := listen(t)
	p, caller, accepted := connected(t, l)
	say(t, caller, accepted, "rank 1 has left")
	p.mu.Lock()
	p.change = true
	p.mu.Unlock()
	if _, err := io.WriteString(caller, "rank 2 has left"); err != nil {
		t.Fatal(err)
	}
	accepted.SetReadDeadline(time.Now().Add(deadline))
	if n, err := accepted.Read(make([]byte, 100)); n > 0 || err == nil {
		t.Errorf("%d bytes were heard, %v", n, err)
	} else if e, ok := err.(net.Error); ok && e.Timeout() {
		t.Error("the connection goes on")
	}
}
