//go:build cgo && linux

package verbs

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/transport"
)

// next polls an endpoint until something comes.
func next(t *testing.T, e transport.Endpoint) transport.Completion {
	t.Helper()
	var one [1]transport.Completion
	for end := time.Now().Add(patience); time.Now().Before(end); {
		n, err := e.Poll(one[:])
		check(t, err)
		if n > 0 {
			return one[0]
		}
	}
	t.Fatal("nothing has come")
	return one[0]
}

// TestDeviceRefuses: a key that the peer's device does not know, which no operation
// carries unless the origin's memory is corrupt, ends the connection and nothing else.
func TestDeviceRefuses(t *testing.T) {
	p := newPair(t, 4096)
	check(t, p.conn.Put(p.far, make([]byte, 8), 1))
	p.settle()
	o := p.conn.(*conn).o
	o.mu.Lock()
	for key, d := range o.known {
		d.rkey ^= 0xff00
		o.known[key] = d
	}
	o.last = 0
	o.mu.Unlock()
	check(t, p.conn.Put(p.far, make([]byte, 8), 2))
	if c := next(t, p.from); c.Op != 2 || c.Rank != 1 || !errors.Is(c.Err, transport.ErrPeerFailed) || !strings.Contains(c.Err.Error(), "access") {
		t.Errorf("a Put that the device refused completes as %+v", c)
	}
	err := p.conn.Put(p.far, make([]byte, 8), 3)
	if !errors.Is(err, transport.ErrPeerFailed) || !strings.Contains(err.Error(), "rank 1") {
		t.Errorf("the next Put: %v", err)
	}
	if c := next(t, p.endpoint[1]); c.Rank != 0 || c.Op != 0 || !errors.Is(c.Err, transport.ErrPeerFailed) {
		t.Errorf("the target hears %+v", c)
	}
	self, err := p.from.Dial(context.Background(), 0, p.from.Addr())
	check(t, err)
	check(t, self.Flush(4))
	if c := next(t, p.from); c.Op != 4 || c.Err != nil {
		t.Errorf("another connection: %+v", c)
	}
}

// TestAsynchronousEvent: what happens to the port ends every connection, by name.
func TestAsynchronousEvent(t *testing.T) {
	p := newPair(t, 4096)
	e := p.from.(*endpoint)
	e.suffer(event{name: "port error", port: e.device.place.port + 1}) // not ours
	check(t, p.conn.Put(p.far, make([]byte, 8), 1))
	p.settle()
	e.suffer(event{name: "port error", port: e.device.place.port})
	err := p.conn.Put(p.far, make([]byte, 8), 2)
	if !errors.Is(err, transport.ErrPeerFailed) || !strings.Contains(err.Error(), "rank 1") || !strings.Contains(err.Error(), "port error") {
		t.Errorf("Put after the port went down: %v", err)
	}
}

// TestSever: a rank that others know to be gone writes nothing more.
func TestSever(t *testing.T) {
	p := newPair(t, 4096)
	check(t, p.conn.Put(p.far, make([]byte, 8), 1))
	p.settle()
	p.endpoint[1].(*endpoint).Sever(1) // somebody else
	check(t, p.conn.Put(p.far, bytes.Repeat([]byte{1}, 8), 2))
	p.settle()
	p.endpoint[1].(*endpoint).Sever(0)
	p.endpoint[1].(*endpoint).Sever(0)
	err := p.conn.Put(p.far, bytes.Repeat([]byte{2}, 8), 3)
	if err == nil {
		err = next(t, p.from).Err
	}
	if !errors.Is(err, transport.ErrPeerFailed) {
		t.Errorf("a Put to who has severed the connection: %v", err)
	}
	if !bytes.Equal(p.there[:8], bytes.Repeat([]byte{1}, 8)) {
		t.Errorf("the memory holds % x", p.there[:8])
	}
}

// TestPieces: an operation on registered memory that is longer than a request.
func TestPieces(t *testing.T) {
	p := newPair(t, 200_000)
	p.from.(*endpoint).pieceBytes = 30_001
	for i := range p.near {
		p.near[i] = byte(i * 7)
	}
	check(t, p.conn.Put(p.far, p.near, 1))
	p.settle()
	want := bytes.Clone(p.near)
	clear(p.near)
	check(t, p.conn.Get(p.near, p.far, 2))
	p.settle()
	if !bytes.Equal(p.near, want) {
		t.Error("Get does not return what Put wrote")
	}
}

// TestLockedMemory: who may lock 64 KiB is told what to raise.
func TestLockedMemory(t *testing.T) {
	provider(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+lockedRole)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("this process may lock 65536 in all: raise RLIMIT_MEMLOCK")) {
		t.Errorf("%v: %s", err, out)
	}
}

const lockedRole = "locked memory"

// openLocked opens an endpoint under the limit.
func openLocked() error {
	limit := unix.Rlimit{Cur: 64 << 10, Max: 64 << 10}
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil {
		return err
	}
	_, err := Provider{Secret: make([]byte, 32), Loopback: true}.Open(alone())
	return err
}
