package tcp

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/tcp/wire"
)

// landed is a landing to which a wild peer Puts, byte by byte as the test wants.
type landed struct {
	*wild
	transport.Landing
	at   []byte
	read uint64 // bytes, so far
}

func startLanding(t testing.TB, n int) *landed {
	l := &landed{wild: startWild(t, loopback()), at: make([]byte, n)}
	var err error
	l.Landing, err = l.e.Land(1, l.at)
	check(t, err)
	return l
}

// put begins a Put of payload and sends some of it; rest sends the others. Both return
// when they were read.
func (l *landed) put(payload []byte, some int) (rest func()) {
	l.say(wire.Header{Kind: wire.Put, Length: uint32(len(payload)), Key: l.Remote().Key}, payload[:some]...)
	l.await(wire.HeaderBytes + some)
	return func() {
		_, err := l.conn.Write(payload[some:])
		check(l.t, err)
		l.await(len(payload) - some)
	}
}

func (l *landed) await(n int) {
	l.t.Helper()
	read := &l.e.peerAt(1).rx.bytes
	var done [1]transport.Completion
	for want, end := l.read+uint64(n), time.Now().Add(wildPatience); read.Load() < want; {
		_, err := l.e.Poll(done[:])
		check(l.t, err)
		if time.Now().After(end) {
			l.t.Fatalf("%d bytes of %d were read", read.Load(), want)
		}
	}
	l.read += uint64(n)
}

// TestRedirect: before a payload, and wherever it is cut, it comes whole to the place
// that was named last, and nothing is written elsewhere afterwards.
func TestRedirect(t *testing.T) {
	const n = 20_000
	l := startLanding(t, n)
	payload := bytes.Repeat([]byte("payload."), n/8)
	number := uint64(0)
	for _, some := range []int{0, 1, 100, directBytes, n - directBytes - 1, n - 1} {
		for _, back := range []bool{false, true} {
			for _, before := range []bool{false, true} {
				number++
				clear(l.at)
				other := make([]byte, n)
				if before && !l.Redirect(number, other) {
					t.Fatal("not redirected before it began")
				}
				rest := l.put(payload, some)
				if !before && !l.Redirect(number, other) {
					t.Fatalf("not redirected after %d bytes", some)
				}
				want, unused := other, l.at
				if back {
					if !l.Redirect(number, l.at) {
						t.Fatalf("not sent back after %d bytes", some)
					}
					want, unused = l.at, other
				}
				kept := bytes.Clone(unused)
				rest()
				if !bytes.Equal(want, payload) || !bytes.Equal(unused, kept) {
					t.Fatalf("redirected before %v, back %v, after %d bytes: other bytes, or elsewhere", before, back, some)
				}
				if l.Redirect(number, make([]byte, n)) {
					t.Error("redirected after it had come")
				}
			}
		}
	}
}

// TestLandingsAreOnePeers: what does not fit ends the connection or is refused.
func TestLandingsAreOnePeers(t *testing.T) {
	l := startLanding(t, 100)
	other, err := l.e.Land(0, make([]byte, 8))
	if err == nil {
		t.Errorf("a rank has a landing for itself: %+v", other.Remote())
	}
	if _, err := l.e.Land(1, make([]byte, wire.MaxPiece+1)); !errors.Is(err, transport.ErrTooLong) {
		t.Errorf("a landing for more than one frame: %v", err)
	}
	key := l.Remote().Key
	for name, h := range map[string]wire.Header{
		"too long":  {Kind: wire.Put, Key: key, Length: 101},
		"elsewhere": {Kind: wire.Put, Key: key, Length: 1, Offset: 1},
	} {
		l := startLanding(t, 100)
		l.say(h, make([]byte, h.Length)...)
		if err := l.ending(); !errors.Is(err, transport.ErrPeerFailed) || !strings.Contains(err.Error(), "landing") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, h := range map[string]wire.Header{
		"Get":            {Kind: wire.Get, Key: key, Value: 8},
		"FetchAdd":       {Kind: wire.FetchAdd, Key: key},
		"another's":      {Kind: wire.Put, Key: key + 1, Length: 8},
		"closed landing": {Kind: wire.Put, Key: key, Length: 8},
	} {
		l := startLanding(t, 100)
		if name == "closed landing" {
			check(t, l.Close())
		}
		l.say(h, make([]byte, h.Length)...)
		if got := l.hear(); got.Kind != wire.Refusal || got.Value != wire.UnknownKey {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// hear returns the next frame of rank 0.
func (l *landed) hear() (h wire.Header) {
	l.t.Helper()
	heard := make(chan error, 1)
	var b [wire.HeaderBytes]byte
	go func() {
		_, err := l.conn.Read(b[:])
		heard <- err
	}()
	var done [1]transport.Completion
	for {
		select {
		case err := <-heard:
			check(l.t, errors.Join(err, h.Decode(b[:])))
			return h
		default:
			_, err := l.e.Poll(done[:])
			check(l.t, err)
		}
	}
}
