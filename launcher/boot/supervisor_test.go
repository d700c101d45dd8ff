package boot

import (
	"errors"
	"io"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// deadline bounds what a test waits for; nothing here takes a hundredth of it.
const deadline = 20 * time.Second

// A fakeSupervisor is the other end of a rank's inherited socket, played by the
// test.
type fakeSupervisor struct {
	t         *testing.T
	inherited *os.File
	private   *os.File
	details   Details
}

// inherit makes this process look like a rank and returns its supervisor.
func inherit(t *testing.T) *fakeSupervisor {
	t.Helper()
	ours, theirs, err := SocketPair()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(EnvSocket, strconv.Itoa(int(theirs.Fd())))
	f := &fakeSupervisor{t: t, inherited: ours}
	t.Cleanup(func() { f.inherited.Close(); theirs.Close(); f.hangUp() })
	return f
}

// hello waits for a rank's hello and keeps the private socket.
func (f *fakeSupervisor) hello() Packet {
	p, file, err := Receive(f.inherited)
	if err != nil || file == nil {
		f.t.Errorf("hello: %v, descriptor %v", err, file)
		return p
	}
	f.private = file
	return p
}

func (f *fakeSupervisor) welcome(rank, size int) {
	r, w, err := os.Pipe() // any descriptor will do for the job's memory
	if err != nil {
		f.t.Error(err)
		return
	}
	w.Close()
	f.hello()
	err = SendWelcome(f.private, Packet{Rank: int32(rank), Size: int32(size), Text: "here"}, f.details, r)
	if err != nil && !errors.Is(err, syscall.EPIPE) { // who is refused hangs up before the details
		f.t.Error(err)
	}
	r.Close()
}

func (f *fakeSupervisor) send(p Packet, pass *os.File) {
	if err := Send(f.private, p, pass); err != nil {
		f.t.Errorf("sending %+v: %v", p, err)
	}
}

func (f *fakeSupervisor) expect(kind Kind) (Packet, *os.File) {
	p, file, err := Receive(f.private)
	if err != nil || p.Kind != kind {
		f.t.Errorf("received %+v, %v, want kind %d", p, err, kind)
	}
	return p, file
}

func (f *fakeSupervisor) hangUp() {
	if f.private != nil {
		f.private.Close()
	}
}

// connected returns a session of rank 1 of 3 with its fake supervisor.
func connected(t *testing.T) (*Session, *fakeSupervisor) {
	t.Helper()
	f := inherit(t)
	s := f.join(1, 3)
	t.Cleanup(func() { s.Close(); s.JobMemory().Close() })
	return s, f
}

// join connects this process and welcomes it.
func (f *fakeSupervisor) join(rank, size int) *Session {
	f.t.Helper()
	var wg sync.WaitGroup
	wg.Go(func() { f.welcome(rank, size) })
	s, err := Connect(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	wg.Wait()
	return s
}

// within runs f and fails the test if it does not return in time.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(deadline):
		t.Fatalf("%s: no end after %v", what, deadline)
	}
}

// temporary returns an unlinked file that holds text.
func temporary(t *testing.T, text string) *os.File {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, text); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
