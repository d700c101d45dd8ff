//go:build linux

package crossmem

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/internal/spawntest"
)

func random(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

// TestPieces moves memory with every limit around the piece's length, within this
// process, which is a peer like others.
func TestPieces(t *testing.T) {
	const n = 10000
	src := random(n)
	for _, piece := range []int{1, 3000, n - 1, n, n + 1, longest} {
		p := Peer{pid: os.Getpid(), piece: piece}
		var from, to Publication
		read, written := make([]byte, n), make([]byte, n+2)
		if err := p.Read(read, from.Publish(src)); err != nil || !bytes.Equal(read, src) {
			t.Errorf("pieces of %d: read: %v", piece, err)
		}
		if err := p.Write(to.Publish(written).Plus(1), src); err != nil || !bytes.Equal(written[1:n+1], src) {
			t.Errorf("pieces of %d: write: %v", piece, err)
		}
		if written[0] != 0 || written[n+1] != 0 {
			t.Errorf("pieces of %d: bytes beside the target were written", piece)
		}
		from.Withdraw()
		to.Withdraw()
	}
}

func TestNothingIsAddressZero(t *testing.T) {
	var p Publication
	if at := p.Publish(nil); at != 0 {
		t.Errorf("nil is at %#x", uint64(at))
	}
	p.Withdraw()
	if err := NewPeer(os.Getpid()).Read(nil, 0); err != nil {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	hole, err := unix.Mmap(-1, 0, 2*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(hole)
	if err := unix.Mprotect(hole[os.Getpagesize():], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	var p Publication
	at, buf := p.Publish(hole), make([]byte, 2*os.Getpagesize())
	defer p.Withdraw()
	for _, c := range []struct {
		pid  int
		want error
		text string
	}{
		{gone.Process.Pid, unix.ESRCH, "the process has ended"},
		{os.Getpid(), unix.EFAULT, "no such memory"},
	} {
		for op, err := range map[string]error{"reading": NewPeer(c.pid).Read(buf, at), "writing": NewPeer(c.pid).Write(at, buf)} {
			var e *Error
			if !errors.Is(err, c.want) || !errors.As(err, &e) || e.Op != op || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%s of process %d: %v", op, c.pid, err)
			}
		}
	}
}

func TestProbe(t *testing.T) {
	token := NewToken(0x1234)
	defer token.Close()
	at, value := token.Place()
	self := NewPeer(os.Getpid())
	if err := self.Probe(at, value); err != nil {
		t.Error(err)
	}
	if err := self.Probe(at, value+1); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a wrong word: %v", err)
	}
	if err := self.Probe(8, value); !errors.Is(err, unix.EFAULT) {
		t.Errorf("an address without memory: %v", err)
	}
}

// grow makes the stack of its goroutine grow, and so move.
//
//go:noinline
func grow(depth int) byte {
	var frame [512]byte
	if depth == 0 {
		return frame[17]
	}
	frame[depth%512] = grow(depth - 1)
	return frame[depth%512]
}

// TestStackBackedSliceStaysPut publishes a slice of an array that would lie on the
// stack if it were not for Publish, and has the stack move before it is written.
func TestStackBackedSliceStaysPut(t *testing.T) {
	self := NewPeer(os.Getpid())
	done := make(chan error)
	for depth := 100; depth < 20000; depth *= 2 {
		go func() {
			var array [1024]byte
			var p Publication
			at := p.Publish(array[:])
			grow(depth)
			for i := range array { // after the move: the old place keeps what it held
				array[i] = byte(i * 7)
			}
			got := make([]byte, len(array))
			err := self.Read(got, at)
			if err == nil && !bytes.Equal(got, array[:]) {
				err = fmt.Errorf("depth %d: the memory moved", depth)
			}
			p.Withdraw()
			done <- err
		}()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestAcrossProcesses has a parent read and write the memory of a child, which
// tells where over its standard output.
func TestAcrossProcesses(t *testing.T) {
	const n = 1 << 20
	if _, ok := spawntest.Rank(); ok {
		child(t, n)
		return
	}
	cmd := spawntest.Command(t, 0, nil)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var word, value, mem uint64
	lines := bufio.NewReader(out)
	if _, err := fmt.Fscanln(lines, &word, &value, &mem); err != nil {
		t.Fatal(err)
	}
	p := NewPeer(cmd.Process.Pid)
	if err := p.Probe(Address(word), value); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, n)
	if err := p.Read(got, Address(mem)); err != nil || !bytes.Equal(got, random(n)) {
		t.Errorf("read: %v", err)
	}
	for i := range got {
		got[i] ^= 0xff
	}
	if err := p.Write(Address(mem), got); err != nil {
		t.Error(err)
	}
	in.Close()
	if rest, err := io.ReadAll(lines); err != nil || cmd.Wait() != nil {
		t.Errorf("child: %v\n%s", err, rest)
	}
	if err := p.Read(got, Address(mem)); !errors.Is(err, unix.ESRCH) {
		t.Errorf("a process that has ended: %v", err)
	}
}

func child(t *testing.T, n int) {
	mem := random(n)
	var p Publication
	token := NewToken(0xfeedface)
	word, value := token.Place()
	fmt.Println(uint64(word), value, uint64(p.Publish(mem)))
	io.Copy(io.Discard, os.Stdin)
	for i, b := range random(n) {
		if mem[i] != b^0xff {
			t.Fatalf("byte %d was not written", i)
		}
	}
	p.Withdraw()
	token.Close()
}

// TestAllow is about the call, not about what Yama makes of it.
func TestAllow(t *testing.T) {
	if err := Allow(); err != nil {
		t.Error(err)
	}
}

func TestNothingIsAllocated(t *testing.T) {
	self, p := NewPeer(os.Getpid()), new(Publication)
	src, dst := make([]byte, 4096), make([]byte, 4096)
	if n := testing.AllocsPerRun(100, func() {
		if err := self.Read(dst, p.Publish(src)); err != nil {
			t.Fatal(err)
		}
		p.Withdraw()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRead(b *testing.B) {
	for _, n := range []int{8, 4 << 10, 64 << 10, 1 << 20, 16 << 20} {
		b.Run(fmt.Sprintf("bytes=%d", n), func(b *testing.B) {
			self, p := NewPeer(os.Getpid()), new(Publication)
			src, dst := random(n), make([]byte, n)
			at := p.Publish(src)
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				if err := self.Read(dst, at); err != nil {
					b.Fatal(err)
				}
			}
			p.Withdraw()
		})
	}
}
