package uffd

import (
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/internal/spawntest"
)

const deadline = 20 * time.Second

// What a rank is told to do. A request is an op, a number that the answer has too, a
// page and a value.
const (
	load uint64 = iota
	store
	increment // so many times, while garbage is collected
	watch     // load it without end
	end
)

type packet struct{ op, number, page, value uint64 }

func (p packet) send(socket int) error {
	b := make([]byte, 0, 32)
	for _, v := range []uint64{p.op, p.number, p.page, p.value} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return unix.Send(socket, b, unix.MSG_NOSIGNAL)
}

func receive(socket int) (packet, error) {
	var b [32]byte
	for {
		n, err := unix.Read(socket, b[:])
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return packet{}, err
		case n != len(b):
			return packet{}, errors.New("the other end is gone")
		}
		at := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
		return packet{at(0), at(1), at(2), at(3)}, nil
	}
}

// beRank is a rank's process: it maps the cache, gives its view away, and accesses
// pages as it is told, each in a goroutine of its own.
func beRank(t *testing.T, pages int) {
	socket, cache := spawntest.FirstFile, os.NewFile(spawntest.FirstFile+1, "cache")
	m, err := Create(cache, pages)
	if err != nil {
		t.Fatal(err)
	}
	base := binary.LittleEndian.AppendUint64(nil, uint64(m.Base))
	if err := unix.Sendmsg(socket, base, unix.UnixRights(m.FD), nil, 0); err != nil {
		t.Fatal(err)
	}
	var answering sync.Mutex
	for {
		p, err := receive(socket)
		if err != nil || p.op == end {
			os.Exit(0) // accesses may wait for ever
		}
		go func() {
			p.value = access(m.Memory, p)
			answering.Lock()
			defer answering.Unlock()
			p.send(socket)
		}()
	}
}

// sink keeps loads from being optimized away.
var sink atomic.Uint64

func access(mem []byte, p packet) uint64 {
	size := os.Getpagesize()
	at := mem[int(p.page)*size:]
	switch p.op {
	case load:
		return binary.LittleEndian.Uint64(at)
	case watch:
		for {
			sink.Add(binary.LittleEndian.Uint64(at))
		}
	case store:
		binary.LittleEndian.PutUint64(at, p.value)
	case increment:
		for i := range p.value {
			binary.LittleEndian.PutUint64(at, binary.LittleEndian.Uint64(at)+1)
			if i%1_000_000 == 0 {
				go runtime.GC()
			}
		}
	}
	return p.value
}

// A rank is a process as its pager sees it.
type rank struct {
	t       *testing.T
	pid     int
	view    *View
	socket  int
	answers chan packet
	over    chan struct{} // closed when the process has ended
	number  uint64
}

// cluster is one cache and ranks that see it.
func cluster(t *testing.T, ranks, pages int) (*Cache, []*rank) {
	t.Helper()
	if _, ok := spawntest.Rank(); ok {
		beRank(t, pages)
	}
	c, err := NewCache(pages)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if m, err := Create(c.File(), pages); errors.Is(err, ErrUnavailable) {
		t.Skipf("uffd: run as root, or allow it by vm.unprivileged_userfaultfd: %v", err)
	} else if err != nil || m.Close() != nil {
		t.Fatal("mapping the cache: ", err)
	}
	var all []*rank
	for i := range ranks {
		all = append(all, startRank(t, c, i))
	}
	return c, all
}

func startRank(t *testing.T, c *Cache, number int) *rank {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "socket")
	cmd := spawntest.Command(t, number, nil, theirs, c.File())
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	base, oob := make([]byte, 8), make([]byte, unix.CmsgSpace(4))
	n, oobn, _, _, err := unix.Recvmsg(pair[0], base, oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil || n != len(base) {
		cmd.Wait()
		t.Fatalf("rank %d has not mapped the cache: %v", number, err)
	}
	messages, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil {
		t.Fatal(err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		t.Fatal(err)
	}
	r := &rank{t: t, pid: cmd.Process.Pid, view: NewView(fds[0], uintptr(binary.LittleEndian.Uint64(base))), socket: pair[0], answers: make(chan packet, 64), over: make(chan struct{})}
	go func() {
		defer close(r.over)
		defer cmd.Wait()
		for {
			p, err := receive(r.socket)
			if err != nil {
				return
			}
			r.answers <- p
		}
	}()
	t.Cleanup(func() {
		packet{op: end}.send(r.socket)
		<-r.over
		unix.Close(r.socket)
		r.view.Close()
	})
	return r
}

// begin has the rank access a page.
func (r *rank) begin(op uint64, page int, value uint64) {
	r.t.Helper()
	r.number++
	if err := (packet{op, r.number, uint64(page), value}).send(r.socket); err != nil {
		r.t.Fatal(err)
	}
}

// done waits for the end of an access, and returns what was loaded.
func (r *rank) done() uint64 {
	r.t.Helper()
	select {
	case p := <-r.answers:
		return p.value
	case <-time.After(deadline):
		r.t.Fatal("the access has not ended")
	}
	return 0
}

// fault waits for a fault, of which nothing but what is wanted may be told.
func (r *rank) fault(want Fault) {
	r.t.Helper()
	for {
		var faults [8]Fault
		if !r.readable(deadline) {
			r.t.Fatalf("no fault, want %+v", want)
		}
		n, err := r.view.Faults(faults[:])
		if err != nil {
			r.t.Fatal(err)
		}
		for _, f := range faults[:n] {
			if f.Thread == 0 {
				r.t.Errorf("a fault of no thread: %+v", f)
			}
			if f.Thread = 0; f != want {
				r.t.Fatalf("%+v, want %+v", f, want)
			}
		}
		if n > 0 {
			return
		}
	}
}

// readable waits until there is a fault.
func (r *rank) readable(d time.Duration) bool {
	until := time.Now().Add(d)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(r.view.Fd()), Events: unix.POLLIN}}, int(max(time.Until(until), 0).Milliseconds()))
		if err != unix.EINTR {
			return n > 0
		}
	}
}

// content is a page with a number in its first word.
func content(value uint64) []byte {
	b := make([]byte, os.Getpagesize())
	binary.LittleEndian.PutUint64(b, value)
	return b
}

func (r *rank) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}
