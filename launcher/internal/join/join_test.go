package join

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golaunch/golaunch/launcher/internal/keys"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const deadline = 20 * time.Second

var goodKey = []byte("0123456789abcdef-a good key")

type refusal struct {
	from net.Addr
	why  error
}

// listen returns a listener, and what it refuses.
func listen(t *testing.T) (*Listener, chan refusal) {
	t.Helper()
	l, err := Listen("127.0.0.1:0", goodKey, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	refused := make(chan refusal, 10_000)
	l.Refused = func(from net.Addr, why error) { refused <- refusal{from, why} }
	t.Cleanup(func() { l.Close() })
	return l, refused
}

// accept accepts in the background.
func accept(l *Listener) chan net.Conn {
	conns := make(chan net.Conn, 1)
	go func() {
		if c, err := l.Accept(); err == nil {
			conns <- c
		}
	}()
	return conns
}

func proofsOf(t *testing.T, r role, secrets ...[]byte) []proof {
	t.Helper()
	proofs, err := newProofs(ringOf(t, secrets...), r)
	if err != nil {
		t.Fatal(err)
	}
	return proofs
}

func ringOf(t *testing.T, secrets ...[]byte) keys.Ring {
	t.Helper()
	var ring keys.Ring
	for _, s := range secrets {
		k, err := keys.New(s)
		if err != nil {
			t.Fatal(err)
		}
		ring = append(ring, k)
	}
	return ring
}

func within[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(deadline):
		t.Fatalf("%s: nothing for %v", what, deadline)
		panic("")
	}
}

func ctx(t *testing.T) context.Context {
	c, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	return c
}

func dialGood(t *testing.T, l *Listener) net.Conn {
	t.Helper()
	c, err := Dial(ctx(t), l.Addr().String(), goodKey, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestBothHoldTheKey(t *testing.T) {
	l, _ := listen(t)
	conns := accept(l)
	c := dialGood(t, l)
	s := within(t, "the accepted connection", conns)
	defer s.Close()
	long := strings.Repeat("more than may be read before the key is proved; ", 1000)
	go func() { io.WriteString(c, long); c.Close() }()
	if got, err := io.ReadAll(s); string(got) != long {
		t.Errorf("%d bytes of %d arrived, %v", len(got), len(long), err)
	}
}

func TestAnotherKey(t *testing.T) {
	l, refused := listen(t)
	conns := accept(l)
	_, err := Dial(ctx(t), l.Addr().String(), []byte("fedcba9876543210-another key"), time.Second)
	if err == nil || !strings.Contains(err.Error(), "the front there holds another key") {
		t.Errorf("Dial = %v", err)
	}
	if r := within(t, "the refusal", refused); !strings.Contains(r.why.Error(), "bad certificate") {
		t.Errorf("refused because %v", r.why)
	}
	dialGood(t, l)
	within(t, "the accepted connection", conns).Close()
}

// Somebody shows the front its own certificate, or none, or another one.
func TestStrangersWhoSpeakTLS(t *testing.T) {
	asFront := calling(proofsOf(t, front, goodKey))
	asAgent := calling(proofsOf(t, caller, goodKey))
	other := calling(proofsOf(t, supervisor, []byte("fedcba9876543210-another key")))
	for name, c := range map[string]*tls.Config{
		"the front's own": asFront,
		"another":         other,
		"another role's":  asAgent,
		"none":            {InsecureSkipVerify: true, NextProtos: []string{protocol}},
		"no protocol":     {InsecureSkipVerify: true},
	} {
		t.Run(name, func(t *testing.T) {
			l, refused := listen(t)
			accept(l)
			c = c.Clone()
			c.VerifyConnection = nil
			conn, err := tls.Dial("tcp", l.Addr().String(), c)
			if err == nil {
				defer conn.Close()
				if _, err = conn.Read(make([]byte, 1)); err == nil {
					t.Error("it was accepted")
				}
			}
			within(t, "the refusal", refused)
		})
	}
}

func TestStrangersWhoDoNot(t *testing.T) {
	for name, text := range map[string]string{
		"HTTP":            "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"noise":           strings.Repeat("\x16\x03\x01\x40\x00", 20_000),
		"gone at once":    "",
		"a frame of ours": "\x05\x00\x00\x00\x01",
	} {
		t.Run(name, func(t *testing.T) {
			l, refused := listen(t)
			conns := accept(l)
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(c, text)
			c.Close()
			within(t, "the refusal", refused)
			dialGood(t, l)
			within(t, "the accepted connection", conns).Close()
		})
	}
}

// Many who say nothing drop each other and not who has the key.
func TestSilentStrangers(t *testing.T) {
	l, refused := listen(t)
	conns := accept(l)
	const strangers = 4 * maxPending
	for range strangers {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	dialGood(t, l)
	within(t, "the accepted connection", conns).Close()
	for range strangers + 1 - maxPending {
		if r := within(t, "a refusal", refused); !errors.Is(r.why, errDropped) {
			t.Errorf("refused because %v", r.why)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := l.pending.Len(); n > maxPending {
		t.Errorf("%d are pending", n)
	}
}

func TestDialWaitsForTheFront(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	dialled := make(chan error, 1)
	go func() {
		c, err := Dial(ctx(t), address, goodKey, time.Second)
		if err == nil {
			c.Close()
		}
		dialled <- err
	}()
	select {
	case err := <-dialled:
		t.Fatalf("Dial returned %v before anybody listened", err)
	case <-time.After(3 * firstPause):
	}
	late, err := Listen(address, goodKey, time.Second)
	if err != nil {
		t.Skip("somebody has taken the port:", err)
	}
	defer late.Close()
	conns := accept(late)
	if err := within(t, "Dial", dialled); err != nil {
		t.Fatal(err)
	}
	within(t, "the accepted connection", conns).Close()
}

func TestDialGivesUp(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, tt := range map[string]struct {
		answer, want string
	}{
		"no TLS":  {"HTTP/1.1 400 Bad Request\r\n\r\n", "who listens there is no golaunch"},
		"nothing": {"", "the front there closed the connection"},
	} {
		t.Run(name, func(t *testing.T) {
			go func() {
				c, err := l.Accept()
				if err != nil {
					return
				}
				c.Read(make([]byte, 4096))
				io.WriteString(c, tt.answer)
				c.Close()
			}()
			if _, err := Dial(ctx(t), l.Addr().String(), goodKey, time.Second); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Dial = %v, want %q", err, tt.want)
			}
		})
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	l.Close()
	if _, err := DialOnce(ctx(t), l.Addr().String(), goodKey, time.Second); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("DialOnce = %v", err)
	}
	if _, err := Dial(short, l.Addr().String(), goodKey, time.Second); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("Dial = %v", err)
	}
}

// A name may come later than who asks for it.
func TestDialWaitsForAName(t *testing.T) {
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := Dial(short, "nobody.invalid:4711", goodKey, time.Second)
	var name *net.DNSError
	if !errors.As(err, &name) || time.Since(begin) < 200*time.Millisecond {
		t.Errorf("Dial = %v after %v", err, time.Since(begin))
	}
}

func TestReadKey(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		name, text string
		mode       os.FileMode
		want       string
	}{
		{"good", "  0123456789abcdef\n", 0o600, ""},
		{"open", "0123456789abcdef", 0o640, "others may read it (mode 0640)"},
		{"short", "0123456789abcde\n", 0o600, "a key of 15 bytes is too short"},
		{"long", strings.Repeat("x", maxKey+1), 0o600, "longer than 4096 bytes"},
	} {
		path := filepath.Join(dir, tt.name)
		os.WriteFile(path, []byte(tt.text), tt.mode)
		os.Chmod(path, tt.mode)
		key, err := ReadKeyFile(path)
		if tt.want == "" && (err != nil || string(key) != "0123456789abcdef") {
			t.Errorf("%s: %q, %v", tt.name, key, err)
		}
		if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	if _, err := ReadKeyFile(filepath.Join(dir, "none")); err == nil {
		t.Error("a key was read from nowhere")
	}
}

func ExampleReadKey() {
	key, err := ReadKey(strings.NewReader("a key of 22 characters\n"))
	fmt.Println(len(key), err)
	// Output: 22 <nil>
}
