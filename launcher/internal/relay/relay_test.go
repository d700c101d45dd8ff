package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golaunch/golaunch/launcher/internal/tree"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const deadline = 20 * time.Second

var key = []byte("0123456789abcdef of this test")

// A forest is a root and the hosts below it, in one process.
type forest struct {
	t     testing.TB
	root  *Root
	nodes []*Node
	hosts []*Host // the root's ends, in the order of nodes
}

// plant attaches hosts as places say.
func plant(t testing.TB, timeout time.Duration, places []tree.Place) *forest {
	t.Helper()
	root, err := Listen("127.0.0.1:0", key, timeout, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := &forest{t: t, root: root}
	t.Cleanup(root.Close)
	for i := range places {
		n, err := NewNode("127.0.0.1:0", key)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.Close() })
		f.nodes = append(f.nodes, n)
		var parents []string
		for _, p := range tree.Ancestors(places, i) {
			parents = append(parents, f.nodes[p].Addr())
		}
		ctx, cancel := context.WithTimeout(t.Context(), deadline)
		defer cancel()
		if err := n.Join(ctx, append(parents, root.Addr().String())); err != nil {
			t.Fatal(err)
		}
		f.hosts = append(f.hosts, within(t, "a host", func() *Host {
			h, err := root.Accept()
			if err != nil {
				t.Error(err)
			}
			return h
		}))
	}
	return f
}

// within waits for something.
func within[T any](t testing.TB, what string, wait func() T) T {
	t.Helper()
	done := make(chan T, 1)
	go func() { done <- wait() }()
	select {
	case v := <-done:
		return v
	case <-time.After(deadline):
		t.Fatalf("%s: nothing for %v", what, deadline)
		panic("")
	}
}

// reads waits for bytes.
func reads(t testing.TB, who string, r io.Reader, want []byte) {
	t.Helper()
	got := make([]byte, len(want))
	err := within(t, who, func() error { _, err := io.ReadFull(r, got); return err })
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%s: %v, %.100q, want %.100q", who, err, got, want)
	}
}

// meets sends something in every direction, and waits for it.
func (f *forest) meets(but ...int) {
	f.t.Helper()
	f.root.SendAll([]byte("all "))
	for i, h := range f.hosts {
		h.Write(fmt.Appendf(nil, "to %d ", i))
	}
	f.root.SendAll([]byte("again "))
	for i, n := range f.nodes {
		if len(but) > 0 && but[0] == i {
			continue
		}
		fmt.Fprintf(n, "from %d ", i)
		reads(f.t, fmt.Sprint("host ", i), n, fmt.Appendf(nil, "all to %d again ", i))
		reads(f.t, "root", f.hosts[i], fmt.Appendf(nil, "from %d ", i))
	}
}

func TestTree(t *testing.T) {
	f := plant(t, deadline, tree.Topology(7, 2))
	f.meets()
	f.meets()
	for i, h := range f.hosts {
		if err := within(t, "Flush", h.Flush); err != nil {
			t.Error(err)
		}
		if err := within(t, "Flush", f.nodes[i].Flush); err != nil {
			t.Error(err)
		}
		if host, _, _ := net.SplitHostPort(h.Where()); host != "127.0.0.1" {
			t.Errorf("host %d is at %s", i, h.Where())
		}
	}
}

// A host in between dies: it is lost at once, and those below it go on.
func TestInnerHostDies(t *testing.T) {
	f := plant(t, deadline, tree.Topology(7, 2))
	var running sync.WaitGroup
	long := bytes.Repeat([]byte("0123456789"), 40_000)
	for i, n := range f.nodes {
		running.Go(func() {
			if i != 0 {
				for rest := long; len(rest) > 0; rest = rest[100:] {
					n.Write(rest[:100])
				}
			}
		})
	}
	f.nodes[0].Close()
	if _, err := f.hosts[0].Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("host 0: %v", err)
	}
	running.Wait()
	for i, h := range f.hosts[1:] {
		reads(t, fmt.Sprint("host ", i+1), h, long)
	}
	f.meets(0)
}

// A host in between is silent: those below it find another way in time, and it is
// lost.
func TestSilentHost(t *testing.T) {
	f := plant(t, 2*time.Second, tree.Topology(3, 1))
	began := time.Now()
	f.nodes[0].mu.Lock() // it does nothing more
	unlock := sync.OnceFunc(f.nodes[0].mu.Unlock)
	t.Cleanup(unlock)
	err := within(t, "the loss", func() error { _, err := f.hosts[0].Read(make([]byte, 1)); return err })
	var rejected *RejectedError
	if err == nil || err == io.EOF || time.Since(began) > 3*time.Second {
		t.Errorf("host 0: %v, after %v", err, time.Since(began))
	}
	f.meets(0)
	unlock()
	if err := within(t, "the end of host 0", func() error { _, err := io.Copy(io.Discard, f.nodes[0]); return err }); !errors.As(err, &rejected) {
		t.Errorf("host 0, which comes back: %v", err)
	}
	f.meets(0)
}

// A host that counts as dead is spared as long as there is a way to it, also to those
// below it; once it is silent, it is lost before its time.
func TestDeadHost(t *testing.T) {
	const timeout = 4 * time.Second
	f := plant(t, timeout, tree.Topology(3, 1))
	f.hosts[1].SetDead(true)
	f.hosts[2].SetDead(true)
	f.meets()
	f.nodes[0].Close() // the others find another way
	if _, err := f.hosts[0].Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("host 0: %v", err)
	}
	f.meets(0)
	f.hosts[2].SetDead(false)
	began := time.Now()
	f.nodes[1].mu.Lock() // it does nothing more
	unlock := sync.OnceFunc(f.nodes[1].mu.Unlock)
	t.Cleanup(unlock)
	err := within(t, "the loss", func() error { _, err := f.hosts[1].Read(make([]byte, 1)); return err })
	took := time.Since(began)
	if err == nil || err == io.EOF || took < timeout/2 || took > timeout*7/8 {
		t.Errorf("host 1: %v, after %v", err, took)
	}
	t.Logf("lost after %v, of %v", took.Round(time.Millisecond), timeout)
	f.root.SendAll([]byte("more"))
	reads(t, "host 2", f.nodes[2], []byte("more"))
	unlock()
}

func TestRootCloses(t *testing.T) {
	f := plant(t, deadline, tree.Topology(3, 1))
	f.meets()
	f.hosts[2].Close()
	if _, err := f.nodes[2].Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("host 2: %v", err)
	}
	f.root.Close()
	for i, n := range f.nodes {
		if err := within(t, "the end", func() error { _, err := n.Read(make([]byte, 1)); return err }); err != io.EOF {
			t.Errorf("host %d: %v", i, err)
		}
	}
}

// Hosts leave when those below them have left.
func TestLeave(t *testing.T) {
	f := plant(t, deadline, tree.Topology(4, 1))
	f.meets()
	var left sync.WaitGroup
	for _, n := range f.nodes[:3] {
		n.Write([]byte("last words"))
		left.Go(n.Leave)
	}
	for i, h := range f.hosts[:3] {
		reads(t, fmt.Sprint("host ", i), h, []byte("last words"))
	}
	last := f.nodes[3]
	last.Write([]byte("still here"))
	reads(t, "host 3", f.hosts[3], []byte("still here"))
	if err := within(t, "Flush", last.Flush); err != nil {
		t.Error(err)
	}
	last.Leave()
	within(t, "all to leave", func() bool { left.Wait(); return true })
}

func TestFull(t *testing.T) {
	f := plant(t, deadline, tree.Topology(1, 1))
	f.root.Full()
	n, err := NewNode("", key)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if err := n.Join(t.Context(), []string{f.nodes[0].Addr(), f.root.Addr().String()}); err != nil {
		t.Fatal(err)
	}
	var rejected *RejectedError
	if _, err := n.Read(make([]byte, 1)); !errors.As(err, &rejected) {
		t.Errorf("the host that is too many: %v", err)
	}
	f.meets()
}
