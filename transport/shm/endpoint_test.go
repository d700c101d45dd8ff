package shm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/transporttest"
)

// dialAll returns a connection from rank 0 to every rank.
func dialAll(t *testing.T, w *transporttest.World) []transport.Conn {
	t.Helper()
	conns := make([]transport.Conn, len(w.Endpoints))
	for rank, e := range w.Endpoints {
		c, err := w.Endpoints[0].Dial(t.Context(), rank, e.Addr())
		if err != nil {
			t.Fatal(err)
		}
		conns[rank] = c
	}
	return conns
}

func share(t *testing.T, w *transporttest.World, rank, n int) transport.Region {
	t.Helper()
	r, err := w.Endpoints[rank].Register(w.Job.Alloc(rank, n))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestErrorsSayWhatWasAsked: rank, operation and values.
func TestErrorsSayWhatWasAsked(t *testing.T) {
	w := transporttest.NewWorld(t, Provider{}, 4)
	c := dialAll(t, w)[3]
	r := share(t, w, 3, 8192).Remote()
	cases := []struct {
		err  error
		want string
	}{
		{c.Put(transport.Remote{Key: r.Key, Offset: 4096, Len: 8192}, make([]byte, 8192), 0),
			"shm: rank 3: Put of 8192 bytes at offset 4096 of region 0x1000000, 8192 bytes named of 8192: outside the registered region"},
		{c.Get(make([]byte, 9), transport.Remote{Key: r.Key, Len: 8}, 0),
			"shm: rank 3: Get of 9 bytes at offset 0 of region 0x1000000, 8 bytes named of 8192: outside the registered region"},
		{c.FetchAdd(transport.Remote{Key: 99, Len: 8}, 1, nil, 0),
			"shm: rank 3: FetchAdd of 8 bytes at offset 0 of region 0x63: no region with that key"},
		{c.CompareSwap(transport.Remote{Key: r.Key, Offset: 3, Len: 8}, 1, 2, nil, 0),
			"shm: rank 3: CompareSwap of 8 bytes at offset 3 of region 0x1000000: not aligned to 8 bytes"},
		{c.Send(make([]byte, 5000)), "shm: rank 3: Send of 5000 bytes: message too long"},
	}
	for _, c := range cases {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", c.err, c.want)
		}
	}
}

func TestDialSaysWhatIsWrong(t *testing.T) {
	w := transporttest.NewWorld(t, Provider{}, 2)
	e, addr := w.Endpoints[0], w.Endpoints[1].Addr()
	other := transporttest.NewWorld(t, Provider{}, 3)
	place, err := decodeAddress(1, addr)
	if err != nil {
		t.Fatal(err)
	}
	misplaced := func(p transport.Remote) []byte { return encodeAddress(1, p) }
	cases := []struct {
		name string
		addr []byte
		want string
	}{
		{"garbage", []byte("garbage"), "not the address of an shm endpoint"},
		{"another rank's", e.Addr(), "the address is that of rank 0"},
		{"no such segment", misplaced(transport.Remote{Key: 1, Len: place.Len}), "no region with that key"},
		{"past the segment", misplaced(transport.Remote{Key: place.Key, Offset: 1 << 40, Len: place.Len}), "outside"},
		{"too short", misplaced(transport.Remote{Key: place.Key, Offset: place.Offset, Len: 8}), "control block of 8 bytes"},
		{"misaligned", misplaced(transport.Remote{Key: place.Key, Offset: place.Offset - 4, Len: place.Len}), "not aligned"},
		{"not a control block", misplaced(transport.Remote{Key: place.Key, Offset: 0, Len: place.Len}), "another version"},
	}
	for _, c := range cases {
		_, err := e.Dial(t.Context(), 1, c.addr)
		if err == nil || !strings.HasPrefix(err.Error(), "shm: rank 1: dial: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want one that says %q", c.name, err, c.want)
		}
	}
	cfg := w.Job.Config(0)
	cfg.Segment = func(int, uint64) ([]byte, error) { return other.Job.Config(0).Segment(1, place.Key) }
	if _, err := (&endpoint{cfg: cfg}).connect(1, place); err == nil || !strings.Contains(err.Error(), "of a job of 3 ranks") {
		t.Errorf("another job's control block: %v", err)
	}
}

func TestOpenRefusesAConfigurationThatLacksSomething(t *testing.T) {
	whole := transporttest.NewJob(2, nil).Config(1)
	for name, spoil := range map[string]func(*transport.Config){
		"rank":    func(c *transport.Config) { c.Rank = 2 },
		"Segment": func(c *transport.Config) { c.Segment = nil },
		"Scratch": func(c *transport.Config) { c.Scratch = nil },
		"Ring":    func(c *transport.Config) { c.Ring = nil },
		"Wait":    func(c *transport.Config) { c.Wait = nil },
		"memory": func(c *transport.Config) {
			c.Scratch = func(int) ([]byte, transport.Remote, error) { return nil, transport.Remote{}, errors.New("no memory") }
		},
		"less memory": func(c *transport.Config) {
			c.Scratch = func(int) ([]byte, transport.Remote, error) { return make([]byte, 8), transport.Remote{Len: 8}, nil }
		},
	} {
		cfg := whole
		spoil(&cfg)
		if e, err := (Provider{}).Open(cfg); err == nil {
			t.Errorf("%s: Open succeeded", name)
			_ = e.Close()
		}
	}
}

// TestCorruptRingIsReportedOnce: with the sender's rank, and without harm to the
// rings of others.
func TestCorruptRingIsReportedOnce(t *testing.T) {
	w := transporttest.NewWorld(t, Provider{}, 3)
	for from := 1; from < 3; from++ {
		c, err := w.Endpoints[from].Dial(t.Context(), 0, w.Endpoints[0].Addr())
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := c.Send([]byte("sound")); err != nil {
				t.Fatal(err)
			}
		}
	}
	ring := w.Endpoints[1].(*endpoint).peers[0].Load().out.ring
	ring.data.words[recordBytes(5)/wordBytes].Store(12345) // the second record
	var messages [3]int
	var broken []transport.Completion
	for range 5 {
		done := make([]transport.Completion, 3)
		n, err := w.Endpoints[0].Poll(done)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range done[:n] {
			if d.Message == nil {
				broken = append(broken, d)
				continue
			}
			messages[d.Rank]++
		}
	}
	if len(broken) != 1 || broken[0].Rank != 1 || broken[0].Op != 0 || !errors.Is(broken[0].Err, errCorrupt) {
		t.Errorf("the corrupt ring was reported as %+v", broken)
	}
	if messages != [3]int{0, 1, 2} {
		t.Errorf("%v messages arrived", messages)
	}
}

// TestRingThatCannotBeMapped: a peer announces nonsense.
func TestRingThatCannotBeMapped(t *testing.T) {
	w := transporttest.NewWorld(t, Provider{}, 4)
	control := w.Endpoints[0].(*endpoint).control
	key, offset, _ := w.Job.Alloc(3, ringBytes)
	control.announce(1, transport.Remote{Key: 1, Len: ringBytes})
	control.announce(2, transport.Remote{Key: key, Offset: 1 << 40, Len: ringBytes})
	control.announce(3, transport.Remote{Key: key, Offset: offset, Len: ringMinBytes - 8})
	done := make([]transport.Completion, 8)
	n, err := w.Endpoints[0].Poll(done)
	if n != 3 || err != nil {
		t.Fatalf("Poll = %d, %v; want three reports", n, err)
	}
	for _, d := range done[:n] {
		if prefix := fmt.Sprintf("shm: rank %d: message ring: ", d.Rank); !strings.HasPrefix(d.Err.Error(), prefix) {
			t.Errorf("got %v, want it to begin with %q", d.Err, prefix)
		}
	}
	if n, _ := w.Endpoints[0].Poll(done); n != 0 {
		t.Errorf("%d further reports", n)
	}
}

// TestPollTakesTurns: a queue of completions that is never empty does not keep
// messages away, nor does one rank those of another.
func TestPollTakesTurns(t *testing.T) {
	w := transporttest.NewWorld(t, Provider{}, 3)
	conns := dialAll(t, w)
	r := share(t, w, 1, 8).Remote()
	for from := 1; from < 3; from++ {
		c, err := w.Endpoints[from].Dial(t.Context(), 0, w.Endpoints[0].Addr())
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			if err := c.Send([]byte("x")); err != nil {
				t.Fatal(err)
			}
		}
	}
	for op := range transport.OpID(100) {
		if err := conns[1].Put(r, make([]byte, 8), op+1); err != nil {
			t.Fatal(err)
		}
	}
	var seen [3]int // completions, messages of rank 1, of rank 2
	done := make([]transport.Completion, 1)
	for range 30 {
		if n, err := w.Endpoints[0].Poll(done); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		if done[0].Message == nil {
			seen[0]++
		} else {
			seen[done[0].Rank]++
		}
	}
	if seen != [3]int{10, 10, 10} {
		t.Errorf("30 polls of one brought %v of the three sources", seen)
	}
}

// TestRingIsMadeAtTheFirstSend: a rank pays for the peers it talks to.
func TestRingIsMadeAtTheFirstSend(t *testing.T) {
	w := transporttest.NewWorld(t, Provider{}, 8)
	conns := dialAll(t, w)
	before := w.Job.ScratchBytes(0)
	for range 3 {
		if err := conns[5].Send([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if grown := w.Job.ScratchBytes(0) - before; grown != ringBytes {
		t.Errorf("three messages to one rank took %d bytes of scratch memory, want %d", grown, ringBytes)
	}
	if before > 4096 {
		t.Errorf("an endpoint of 8 ranks takes %d bytes of scratch memory before it is used", before)
	}
}

func TestSendSaysThatThereIsNoMemory(t *testing.T) {
	job := transporttest.NewJob(1, nil)
	cfg := job.Config(0)
	inner, left := cfg.Scratch, 1
	cfg.Scratch = func(n int) ([]byte, transport.Remote, error) {
		if left--; left < 0 {
			return nil, transport.Remote{}, errors.New("no memory")
		}
		return inner(n)
	}
	e, err := Provider{}.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	c, err := e.Dial(context.Background(), 0, e.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Send(nil); err == nil || err.Error() != "shm: rank 0: Send of 0 bytes: message ring: no memory" {
		t.Errorf("Send: %v", err)
	}
	if _, err := e.Register(job.Alloc(0, 8)); err == nil || !strings.Contains(err.Error(), "directory of regions: no memory") {
		t.Errorf("Register: %v", err)
	}
}

func TestLocateIsDense(t *testing.T) {
	chunk, at := 0, -slotWords
	for slot := range 100_000 {
		at += slotWords
		if at == chunkBytes(chunk)/wordBytes {
			chunk, at = chunk+1, 0
		}
		if c, a := locate(slot); c != chunk || a != at {
			t.Fatalf("locate(%d) = %d, %d; want %d, %d", slot, c, a, chunk, at)
		}
	}
	if c, _ := locate(maxSlots - 1); c != maxChunks-1 {
		t.Errorf("the last slot is in chunk %d of %d", c, maxChunks)
	}
}
