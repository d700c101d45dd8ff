package join

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/keys"
)

// secretOf is a key that c stands for.
func secretOf(c rune) []byte { return []byte(strings.Repeat(string(c), 32)) }

func ringNamed(t *testing.T, names string) keys.Ring {
	t.Helper()
	var secrets [][]byte
	for _, c := range names {
		secrets = append(secrets, secretOf(c))
	}
	return ringOf(t, secrets...)
}

func listenAgent(t *testing.T, ring string) *Listener {
	t.Helper()
	l, err := ListenAgent("127.0.0.1:0", ringNamed(t, ring), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// Two rings meet if and only if they share a key, in whatever order they hold it.
func TestRings(t *testing.T) {
	for _, tt := range []struct {
		listener, caller string
		meet             bool
	}{
		{"a", "a", true},
		{"ba", "a", true},
		{"b", "ab", true},
		{"ab", "ba", true},
		{"ab", "ca", true},
		{"abcdefgh", "h", true},
		{"a", "b", false},
		{"ab", "cd", false},
	} {
		t.Run(tt.listener+" "+tt.caller, func(t *testing.T) {
			l := listenAgent(t, tt.listener)
			conns := accept(l)
			c, err := Call(ctx(t), l.Addr().String(), ringNamed(t, tt.caller), time.Second)
			switch {
			case tt.meet && err != nil:
				t.Fatal(err)
			case tt.meet:
				within(t, "the accepted connection", conns).Close()
				c.Close()
			case err == nil:
				t.Error("they met")
			case !strings.Contains(err.Error(), "the agent there holds another key"):
				t.Error(err)
			}
		})
	}
}

// A caller does not pass for a supervisor, nor a front for an agent.
func TestRolesDoNotMix(t *testing.T) {
	l := listenAgent(t, "a")
	accept(l)
	if c, err := Dial(ctx(t), l.Addr().String(), secretOf('a'), time.Second); err == nil {
		c.Close()
		t.Error("a supervisor was let in by an agent")
	}
	f, err := Listen("127.0.0.1:0", secretOf('a'), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	accept(f)
	if c, err := Call(ctx(t), f.Addr().String(), ringNamed(t, "a"), time.Second); err == nil {
		c.Close()
		t.Error("a caller was let in by a front")
	}
}

func TestGossip(t *testing.T) {
	l, err := ListenGossip("127.0.0.1:0", ringNamed(t, "ab"), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if c, err := Call(ctx(t), l.Addr().String(), ringNamed(t, "a"), time.Second); err == nil {
		c.Close()
		t.Error("a caller was let in to gossip")
	}
	conns := accept(l)
	c, err := CallGossip(ctx(t), l.Addr().String(), ringNamed(t, "b"), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	within(t, "the accepted connection", conns).Close()
	c.Close()
}

// A cluster changes its key from a to b: nobody is ever out of reach, and what was
// connected stays so; afterwards a is worth nothing.
func TestRotation(t *testing.T) {
	l := listenAgent(t, "a")
	call := func(ring string) (net.Conn, error) {
		conns := accept(l)
		c, err := Call(ctx(t), l.Addr().String(), ringNamed(t, ring), time.Second)
		if err == nil {
			t.Cleanup(func() { c.Close() })
			s := within(t, "the accepted connection", conns)
			t.Cleanup(func() { s.Close() })
			return s, nil
		}
		return nil, err
	}
	first, err := call("a")
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ listener, caller string }{{"ba", "a"}, {"ba", "ba"}, {"b", "ba"}, {"b", "b"}} {
		if err := l.SetKeys(ringNamed(t, step.listener)); err != nil {
			t.Fatal(err)
		}
		if _, err := call(step.caller); err != nil {
			t.Errorf("%s calls %s: %v", step.caller, step.listener, err)
		}
	}
	if _, err := first.Write([]byte("still here")); err != nil {
		t.Error(err)
	}
	if _, err := call("a"); err == nil {
		t.Error("the old key is still accepted")
	}
	if err := l.SetKeys(nil); err == nil {
		t.Error("no key at all was accepted")
	}
}

func TestCallTriesOnce(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := Call(ctx(t), l.Addr().String(), ringNamed(t, "a"), time.Second); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Error(err)
	}
}
