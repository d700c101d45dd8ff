//go:build cgo && linux

package verbs

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/verbs/internal/forking"
)

// private is private memory that is nobody's but this test's: foreign memory.
func private(t *testing.T, n int) []byte {
	t.Helper()
	mem, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	check(t, err)
	t.Cleanup(func() { check(t, unix.Munmap(mem)) })
	return mem
}

// Fork by C code, while private memory is registered: what a peer puts into it later
// arrives here although this process has written to the page meanwhile, and the child,
// which holds the pages as they were, sees nothing of it.
func TestForkFromC(t *testing.T) {
	p := newPair(t, 1<<20)
	mem := private(t, 256<<10)
	before, after := bytes.Repeat([]byte{1}, len(mem)), bytes.Repeat([]byte{3}, len(mem))
	copy(mem, before)
	region, err := p.endpoint[1].Register(0, 0, mem)
	check(t, err)
	check(t, p.conn.Put(region.Remote(), before, 1))
	p.settle()
	child, err := forking.Fork(mem)
	check(t, err)
	for i := range mem { // which takes every page apart from the child's
		mem[i] = 2
	}
	check(t, p.conn.Put(region.Remote(), after, 2)) // through bounce buffers: they are private, too
	p.settle()
	if !bytes.Equal(mem, after) {
		t.Errorf("%d bytes of %d are what was put after the fork", bytes.Count(mem, []byte{3}), len(mem))
	}
	got := make([]byte, len(mem))
	check(t, p.conn.Get(got, region.Remote(), 3))
	p.settle()
	if !bytes.Equal(got, after) {
		t.Error("a Get reads other pages than this process")
	}
	seen, err := child.Memory()
	check(t, err)
	if len(seen) > 0 && !bytes.Equal(seen, before) {
		t.Error("the child sees what was put after the fork")
	}
	check(t, region.Close())
}

// Messages, atomics and the ranks' own structures, too, are in memory that a child
// shares.
func TestExchangeWhileForkedChildLives(t *testing.T) {
	r, other := with(t, "echo")
	child, err := forking.Fork(private(t, 4096))
	check(t, err)
	check(t, r.exercise())
	_, err = child.Memory()
	check(t, err)
	check(t, r.endpoint.Close())
	check(t, other.Wait())
}

// os/exec while regions are registered and in use: nothing is lost, and the programs
// that are run inherit no descriptor, of the device or any other.
func TestExecWhileRegistered(t *testing.T) {
	r, other := with(t, "echo")
	stop, ran := make(chan struct{}), make(chan error)
	go func() {
		for n := 0; ; n++ {
			out, err := exec.CommandContext(t.Context(), "ls", "-l", "/proc/self/fd").Output()
			switch {
			case err == nil && strings.Contains(string(out), "infiniband"):
				err = errors.New("a child inherits the device: " + string(out))
			case err == nil:
				select {
				case <-stop:
					t.Log(n+1, "programs were run")
					ran <- nil
					return
				default:
					continue
				}
			}
			ran <- err
			return
		}
	}()
	check(t, r.exercise())
	close(stop)
	check(t, <-ran)
	check(t, r.endpoint.Close())
	check(t, other.Wait())
}

// A region that is closed while a peer's operations on it are under way: each ends as
// it should, in a completion without an error, in one that says that the key is gone
// or in the connection's end, and nothing is written or read once Close has returned,
// though the memory is something else's by then.
func TestDeregistrationRacesTransfer(t *testing.T) {
	ends := map[string]int{}
	for round := range 6 {
		p := newPair(t, 256<<10)
		mem := private(t, len(p.near))
		region, err := p.endpoint[1].Register(0, 0, mem)
		check(t, err)
		fill(p.near, 1)
		get := round%2 == 1
		begun, ended := make(chan struct{}), make(chan error, 1)
		go func() { ended <- p.race(region.Remote(), get, begun) }()
		select {
		case <-begun:
		case err := <-ended:
			t.Fatal("before anything was closed: ", err)
		}
		check(t, region.Close())
		fill(mem, 2) // it is something else's now
		err = <-ended
		switch {
		case errors.Is(err, transport.ErrKey):
			ends["the key is gone"]++
		case errors.Is(err, transport.ErrPeerFailed) && strings.Contains(err.Error(), "rank 1"):
			ends["the connection has ended"]++
		default:
			t.Errorf("operations on a region that is closed end with %v", err)
		}
		if n := bytes.Count(mem, []byte{2}); n != len(mem) {
			t.Errorf("round %d: %d bytes were written after Close", round, len(mem)-n)
		}
		if get && bytes.Contains(p.near, []byte{2}) {
			t.Errorf("round %d: memory was read after Close", round)
		}
		for _, e := range p.endpoint {
			check(t, e.Close())
		}
	}
	t.Log(ends)
}

// race has operations under way, as many as there may be up to three, until one fails.
func (p *pair) race(far transport.Remote, get bool, begun chan<- struct{}) error {
	for n := 0; ; n++ {
		if n == 3 {
			close(begun)
		}
		var err error
		if get {
			err = p.conn.Get(p.near, far, 1)
		} else {
			err = p.conn.Put(far, p.near, 1)
		}
		if err != nil {
			return err
		}
		for n >= 3 {
			k, err := p.from.Poll(p.done[:1])
			if err == nil && k > 0 {
				err = p.done[0].Err
			}
			if err != nil {
				return err
			}
			if k > 0 {
				break
			}
		}
	}
}

func fill(mem []byte, v byte) {
	for i := range mem {
		mem[i] = v
	}
}
