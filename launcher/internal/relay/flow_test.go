package relay

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/join"
	"github.com/golaunch/golaunch/launcher/internal/tree"
)

// A host takes nothing of what is sent to it: those beside it are held up for half of
// the failure timeout at most, and its parent keeps no more than linkRoom of it.
func TestHostThatTakesNothing(t *testing.T) {
	const timeout = 3 * time.Second
	f := plant(t, timeout, []tree.Place{{Parent: -1}, {Parent: 0}, {Parent: 0}})
	f.meets()
	stuck := f.nodes[1]
	stuck.mu.Lock()
	unlock := sync.OnceFunc(stuck.mu.Unlock)
	t.Cleanup(unlock)
	load := make([]byte, 32<<20) // more than sockets and queues take
	f.hosts[1].Write(load)
	began := time.Now()
	f.root.SendAll([]byte("news"))
	reads(t, "the host beside it", f.nodes[2], []byte("news"))
	if took := time.Since(began); took > timeout {
		t.Errorf("news took %v", took)
	}
	for _, l := range f.nodes[0].current() {
		l.mu.Lock()
		if len(l.queue) > linkRoom+tree.MaxFrame+4 {
			t.Errorf("%d bytes are queued on a link", len(l.queue))
		}
		l.mu.Unlock()
	}
}

// The front reads nothing of one host, whose output is not wanted now: news of others
// pass.
func TestFrontThatDoesNotRead(t *testing.T) {
	f := plant(t, deadline, tree.Topology(2, 1))
	f.nodes[1].Write(make([]byte, 8<<20))
	fmt.Fprint(f.nodes[0], "news")
	reads(t, "root", f.hosts[0], []byte("news"))
	fmt.Fprint(f.nodes[1], "behind it")
	reads(t, "root", f.hosts[1], append(make([]byte, 8<<20), "behind it"...))
}

// Holders of the key who speak nonsense are cut off, and nobody else is.
func TestNonsenseOnALink(t *testing.T) {
	f := plant(t, deadline, tree.Topology(1, 1))
	for name, said := range map[string][]byte{
		"no frame":         {0, 0, 0, 0},
		"a long one":       binary.LittleEndian.AppendUint32(nil, tree.MaxFrame+1),
		"no kind":          {1, 0, 0, 0, 255},
		"one from above":   tree.AppendFrame(nil, &tree.Frame{Kind: tree.All, Data: []byte("x")}),
		"another protocol": tree.AppendFrame(nil, &tree.Frame{Kind: tree.Greet, Protocol: 99, Host: 7}),
	} {
		for _, to := range []string{f.root.Addr().String(), f.nodes[0].Addr()} {
			conn, err := join.Dial(t.Context(), to, key, deadline)
			if err != nil {
				t.Fatal(err)
			}
			conn.Write(said)
			conn.SetReadDeadline(time.Now().Add(deadline))
			answer, err := io.ReadAll(conn)
			var late net.Error
			if errors.As(err, &late) && late.Timeout() {
				t.Errorf("%s: it goes on", name)
			}
			if name == "another protocol" && !bytes.Contains(answer, []byte("protocol 99 of the launch tree")) {
				t.Errorf("%q, %v", answer, err)
			}
			conn.Close()
		}
	}
	f.meets()
}

// A parent that refuses a host is final.
func TestRefused(t *testing.T) {
	l, err := join.Listen("127.0.0.1:0", key, deadline)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err == nil {
			conn.Write(tree.AppendFrame(nil, &tree.Frame{Kind: tree.Refuse, Text: "no room"}))
			io.Copy(io.Discard, conn)
			conn.Close()
		}
	}()
	n, err := NewNode("", key)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if err := n.Join(t.Context(), []string{l.Addr().String()}); err != nil {
		t.Fatal(err)
	}
	var rejected *RejectedError
	if err := within(t, "the refusal", func() error { _, err := n.Read(make([]byte, 1)); return err }); !errors.As(err, &rejected) || rejected.Text != "no room" {
		t.Errorf("Read = %v", err)
	}
}

// Of several parents the nearest that lives is taken, and an address where nothing
// answers costs little time.
func TestParentsThatDoNotAnswer(t *testing.T) {
	f := plant(t, deadline, tree.Topology(1, 1))
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead.Close()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	for _, parents := range [][]string{{dead.Addr().String()}, {silent.Addr().String()}, {dead.Addr().String(), silent.Addr().String()}} {
		n, err := NewNode("", key)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Join(ctx, append(parents, f.nodes[0].Addr(), f.root.Addr().String())); err != nil {
			t.Fatal(err)
		}
		if n.at != len(parents) {
			t.Errorf("attached to number %d of %d dead ones and two", n.at, len(parents))
		}
		n.Close()
	}
}
