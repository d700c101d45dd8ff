package arena_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/arena/foreign"
	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/tcp"
	"github.com/golaunch/golaunch/transport/transporttest"
	"github.com/golaunch/golaunch/transport/verbs"
)

// What arenas and caches promise, by a peer that reads and writes: over TCP on every
// machine, and by a device where there is one (make verbs-test), which pins pages and
// goes on with them whatever is mapped there later.

// A peer is rank 0, which reaches memory of rank 1: owner registers it.
type peer struct {
	t     *testing.T
	from  transport.Endpoint
	conn  transport.Conn
	owner transport.Endpoint
	op    transport.OpID
}

// eachTransport runs a test once for each transport that registers.
func eachTransport(t *testing.T, test func(t *testing.T, p *peer)) {
	secret := make([]byte, 32)
	for _, p := range []transport.Provider{
		tcp.Provider{Secret: secret, Job: "test", Version: "test 1", Loopback: true},
		verbs.Provider{Secret: secret, Job: "test", Version: "test 1", Loopback: true},
	} {
		t.Run(p.Name(), func(t *testing.T) { test(t, newPeer(t, p)) })
	}
}

func newPeer(t *testing.T, p transport.Provider) *peer {
	if p.Name() == "verbs" && os.Getenv("GOLAUNCH_VERBS_REQUIRED") == "" {
		if e, err := p.Open(transporttest.NewJob(1, nil).Config(0)); err != nil {
			t.Skip("make verbs-test runs this in a guest: ", err)
		} else {
			no(t, e.Close())
		}
	}
	w := transporttest.NewWorld(t, p, 2)
	from, owner := w.Endpoints[0], w.Endpoints[1]
	conn, err := from.Dial(t.Context(), 1, owner.Addr())
	no(t, err)
	return &peer{t: t, from: from, conn: conn, owner: owner}
}

func no(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// done begins an operation and returns how it has ended.
func (p *peer) done(begin func(transport.OpID) error) error {
	p.op++
	if err := begin(p.op); err != nil {
		return err
	}
	var one [1]transport.Completion
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if n, err := p.from.Poll(one[:]); err != nil {
			return err
		} else if n > 0 && one[0].Op == p.op {
			return one[0].Err
		}
	}
	return errors.New("the operation does not end")
}

func (p *peer) put(to transport.Remote, v byte) error {
	src := bytes.Repeat([]byte{v}, int(to.Len))
	return p.done(func(op transport.OpID) error { return p.conn.Put(to, src, op) })
}

func (p *peer) get(from transport.Remote) ([]byte, error) {
	got := make([]byte, from.Len)
	return got, p.done(func(op transport.OpID) error { return p.conn.Get(got, from, op) })
}

// reaches checks that peers write what is seen here, and read what is written here.
func (p *peer) reaches(mem []byte, at transport.Remote) {
	p.t.Helper()
	no(p.t, p.put(at, 7))
	if !all(mem, 7) {
		p.t.Error("what the peer has put is not there")
	}
	fill(mem, 8)
	got, err := p.get(at)
	no(p.t, err)
	if !all(got, 8) {
		p.t.Error("the peer reads something else")
	}
}

// refused checks that the key is known no more, and that this was all.
func (p *peer) refused(stale transport.Remote) {
	p.t.Helper()
	if err := p.put(stale, 9); !errors.Is(err, transport.ErrKey) {
		p.t.Errorf("a Put by a stale key ends with %v", err)
	}
}

func all(mem []byte, v byte) bool { return bytes.Count(mem, []byte{v}) == len(mem) }

func fill(mem []byte, v byte) {
	for i := range mem {
		mem[i] = v
	}
}

func (p *peer) arena() *arena.Arena {
	a := arena.New(arena.Config{Rank: 1})
	p.t.Cleanup(func() { no(p.t, a.Close()) }) // before the endpoints'
	no(p.t, a.Register(p.owner))
	return a
}

func alloc(t *testing.T, a *arena.Arena, n int) ([]byte, transport.Remote) {
	t.Helper()
	mem, err := arena.Alloc[byte](a, n)
	no(t, err)
	at, ok := a.Remote(mem)
	if !ok {
		t.Fatalf("%d bytes of the arena are not registered", n)
	}
	return mem, at
}

// Segments that were there before Register, that are made after, that slept and woke.
func TestPeersReachSegments(t *testing.T) {
	eachTransport(t, func(t *testing.T, p *peer) {
		a := arena.New(arena.Config{Rank: 1})
		t.Cleanup(func() { no(t, a.Close()) })
		early, err := arena.Alloc[byte](a, 5000)
		no(t, err)
		no(t, a.Register(p.owner))
		at, ok := a.Remote(early)
		if !ok {
			t.Fatal("what was there before is not registered")
		}
		p.reaches(early, at)
		late, lateAt := alloc(t, a, 9<<20)
		p.reaches(late[4<<20:4<<20+70_000], slice(t, lateAt, 4<<20, 70_000))
		no(t, arena.Free(a, late))
		if _, err := a.Relieve(); err != nil {
			t.Fatal(err)
		}
		if u := a.Usage(); u.Registered == 0 || u.Registered != u.Populated {
			t.Errorf("early's segment is awake: %+v", u)
		}
		p.refused(slice(t, lateAt, 0, 8))
		p.reaches(early, at)
		again, againAt := alloc(t, a, 9<<20)
		if !all(again, 0) {
			t.Error("memory of a segment that woke is not zero")
		}
		p.reaches(again[8<<20:], slice(t, againAt, 8<<20, 1<<20))
		p.refused(slice(t, lateAt, 0, 8))
	})
}

func slice(t *testing.T, r transport.Remote, offset, n int64) transport.Remote {
	t.Helper()
	part, err := r.Slice(offset, n)
	no(t, err)
	return part
}

// A late Put meets nobody's memory as long as its origin has not confirmed.
func TestLatePutMeetsQuarantine(t *testing.T) {
	eachTransport(t, func(t *testing.T, p *peer) {
		a, hold := p.arena(), arena.HoldName{Context: 1}
		const n = 64 << 10
		old, late := alloc(t, a, n)
		a.Hold(hold, []int{0}, false)
		no(t, arena.FreeUnder(a, old, hold))
		_, err := a.Relieve() // takes no pages that somebody may write to
		no(t, err)
		var others [][]byte
		for range 8 {
			mem, _ := alloc(t, a, n)
			others = append(others, mem)
		}
		no(t, p.put(late, 9))
		for _, mem := range others {
			if !all(mem, 0) {
				t.Error("a late Put shows in memory that was allocated after")
			}
		}
		a.Confirm(hold, 0)
		mem, at := alloc(t, a, n)
		if at != late || !all(mem, 0) {
			t.Errorf("confirmed, and not used again, zeroed: %+v, was %+v", at, late)
		}
	})
}

// Unmap, remap at the same address, remote write: the program says that it unmaps, and
// then no key leads there any more.
func TestUnmapRemapLatePut(t *testing.T) {
	eachTransport(t, func(t *testing.T, p *peer) {
		c := foreign.New(foreign.Config{Rank: 1, Registrar: p.owner, Limit: math.MaxInt64})
		t.Cleanup(func() { no(t, c.Close()) })
		const n = 256 << 10
		mem := mapped(t, n)
		no(t, c.Adopt(mem))
		use := acquire(t, c, mem)
		p.reaches(mem, use.Remote())
		no(t, use.Release())
		again := acquire(t, c, mem[4096:9000])
		p.reaches(mem[4096:9000], again.Remote())
		no(t, again.Release())
		if f := c.Figures(); f.Hits != 1 || f.Misses != 1 {
			t.Errorf("the second use is to find the first one's registration: %+v", f)
		}
		no(t, c.Invalidate(mem))
		remap(t, mem)
		p.refused(use.Remote())
		if !all(mem, 0) {
			t.Error("a late Put shows in what was mapped after")
		}
		no(t, c.Adopt(mem))
		anew := acquire(t, c, mem)
		p.reaches(mem, anew.Remote())
		p.refused(use.Remote())
		no(t, anew.Release())
	})
}

func acquire(t *testing.T, c *foreign.Cache, mem []byte) foreign.Use {
	t.Helper()
	use, ok, err := c.Acquire(mem)
	no(t, err)
	if !ok {
		t.Fatal("memory that was adopted is nobody's")
	}
	return use
}

func mapped(t *testing.T, n int) []byte {
	t.Helper()
	mem, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
	no(t, err)
	t.Cleanup(func() { no(t, unix.Munmap(mem)) })
	return mem
}
