package line

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func FuzzParse(f *testing.F) {
	whole := Frame{Kind: Want, Mode: PrefetchWrite, ID: 7, Window: 1 << 50, First: 3, N: 1 << 31, Body: []byte("body")}
	f.Add(whole.Append(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Parse(b)
		if err == nil && !bytes.Equal(p.Append(nil), b) {
			t.Errorf("%x is encoded as %x", b, p.Append(nil))
		}
	})
}

func TestRefused(t *testing.T) {
	good := (&Frame{Kind: Done}).Append(nil)
	for name, b := range map[string][]byte{
		"short":           good[:headSize-1],
		"of no kind":      append([]byte{0}, good[1:]...),
		"of unknown kind": append([]byte{byte(lastKind) + 1}, good[1:]...),
		"of unknown mode": append([]byte{good[0], byte(lastMode) + 1}, good[2:]...),
		"not zero":        append([]byte{good[0], 0, 0, 1}, good[4:]...),
		"too long":        append(bytes.Clone(good), make([]byte, MaxBody+1)...),
	} {
		if f, err := Parse(b); err == nil {
			t.Errorf("%s: parsed as %+v", name, f)
		}
	}
}

func pair(t *testing.T) (a, b int) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fds[0]); unix.Close(fds[1]) })
	return fds[0], fds[1]
}

// Frames arrive as they were sent, with their descriptors, of which none is left open
// when a frame is refused.
func TestSocket(t *testing.T) {
	a, b := pair(t)
	var in Buffer
	if _, _, err := in.ReceiveFD(b); err != unix.EAGAIN {
		t.Errorf("from an empty socket: %v", err)
	}
	file, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	sent := Frame{Kind: View, ID: 3, Window: 9, First: 1, N: 2, Body: bytes.Repeat([]byte("x"), 1000)}
	if err := SendFD(a, &sent, int(file.Fd()), int(file.Fd())); err != nil {
		t.Fatal(err)
	}
	f, fds, err := in.ReceiveFD(b)
	if err != nil || len(fds) != 2 || !bytes.Equal(f.Body, sent.Body) || f.Window != 9 {
		t.Fatalf("%+v, descriptors %v, %v", f, fds, err)
	}
	CloseAll(fds)
	before := descriptors(t)
	if err := SendFD(a, &sent, int(file.Fd()), int(file.Fd()), int(file.Fd())); err != nil {
		t.Fatal(err)
	}
	if f, _, err := in.ReceiveFD(b); err == nil {
		t.Errorf("a frame with three descriptors: %+v", f)
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors are open, were %d", after, before)
	}
	if err := unix.Shutdown(a, unix.SHUT_RDWR); err != nil {
		t.Fatal(err)
	}
	if _, _, err := in.ReceiveFD(b); !errors.Is(err, io.EOF) {
		t.Errorf("from a socket whose other end is closed: %v", err)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}
