package foreign

import (
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/transport"
)

// counting is a Registrar that only remembers; it refuses beyond a limit.
type counting struct {
	mu     sync.Mutex
	open   map[*counted]bool
	bytes  int64
	limit  int64
	calls  int
	before func() // each call
}

type counted struct {
	of     *counting
	remote transport.Remote
	closed atomic.Bool
}

var errMemlock = errors.New("cannot pin: RLIMIT_MEMLOCK")

func newCounting() *counting { return &counting{open: map[*counted]bool{}, limit: 1 << 40} }

func (c *counting) Register(_ uint64, _ int64, mem []byte) (transport.Region, error) {
	if c.before != nil {
		c.before()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes+int64(len(mem)) > c.limit {
		return nil, errMemlock
	}
	c.calls++
	c.bytes += int64(len(mem))
	r := &counted{of: c, remote: transport.Remote{Key: uint64(c.calls), Offset: 7, Len: int64(len(mem))}}
	c.open[r] = true
	return r, nil
}

func (r *counted) Remote() transport.Remote { return r.remote }

func (r *counted) Close() error {
	if r.closed.Swap(true) {
		return errors.New("closed twice")
	}
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	delete(r.of.open, r)
	r.of.bytes -= r.remote.Len
	return nil
}

// file is a mapped file.
func file(t testing.TB, bytes int) []byte {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(int64(bytes)); err != nil {
		t.Fatal(err)
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(mem) })
	return mem
}

func newCache(t testing.TB, cfg Config, mem []byte) *Cache {
	t.Helper()
	c := New(cfg)
	if err := c.Adopt(mem); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func acquire(t testing.TB, c *Cache, mem []byte) Use {
	t.Helper()
	use, ok, err := c.Acquire(mem)
	if err != nil || !ok {
		t.Fatalf("%v, %v", ok, err)
	}
	return use
}

func release(t testing.TB, u Use) {
	t.Helper()
	if err := u.Release(); err != nil {
		t.Fatal(err)
	}
}

func TestAcquire(t *testing.T) {
	mem, r := file(t, 1<<20), newCounting()
	c := newCache(t, Config{Registrar: r, Limit: 1 << 30}, mem)
	a := acquire(t, c, mem[4096:65536])
	b := acquire(t, c, mem[5000:6000])
	if want := (transport.Remote{Key: 1, Offset: 7 + 5000 - 4096, Len: 1000}); b.Remote() != want {
		t.Errorf("%+v, want %+v", b.Remote(), want)
	}
	release(t, a)
	release(t, b)
	release(t, acquire(t, c, mem[:100]))
	if f := c.Figures(); f.Hits != 1 || f.Misses != 2 || f.Registered != 61440+100 || f.Idle != f.Registered || r.calls != 2 {
		t.Errorf("%+v, %d calls", f, r.calls)
	}
	release(t, acquire(t, c, mem)) // contains them, and replaces them
	if f := c.Figures(); f.Registered != 1<<20 || len(r.open) != 1 || f.Evictions != 0 || f.Registering <= 0 {
		t.Errorf("%+v, %d open", f, len(r.open))
	}
}

// What was not adopted, whole, is nobody's business.
func TestOnlyWhatIsAdopted(t *testing.T) {
	mem, r := file(t, 64<<10), newCounting()
	c := newCache(t, Config{Registrar: r}, mem[4096:8192])
	refused := func(what string, mem []byte) {
		t.Helper()
		if _, ok, err := c.Acquire(mem); ok || err != nil {
			t.Errorf("%s: %v, %v", what, ok, err)
		}
	}
	refused("the Go heap", make([]byte, 10))
	refused("nothing", nil)
	refused("empty", mem[4096:4096])
	refused("before", mem[:10])
	refused("its beginning", mem[4095:4100])
	refused("its end", mem[8000:8193])
	if err := c.Adopt(mem[8192:16384]); err != nil {
		t.Fatal(err)
	}
	release(t, acquire(t, c, mem[4096:16384])) // adopted in two
	if err := c.Invalidate(mem[9000:10000]); err != nil {
		t.Fatal(err)
	}
	if f := c.Figures(); f.Registered != 0 {
		t.Errorf("%+v", f)
	}
	refused("what was invalidated", mem[9500:9501])
	refused("what reaches into it", mem[8999:9001])
	release(t, acquire(t, c, mem[4096:9000]))
	release(t, acquire(t, c, mem[10000:16384]))
	if err := c.Adopt(nil); !errors.Is(err, ErrEmpty) {
		t.Errorf("adopting nothing: %v", err)
	}
}

func TestLimit(t *testing.T) {
	mem, r := file(t, 1<<20), newCounting()
	c := newCache(t, Config{Registrar: r, Limit: 300}, mem)
	part := func(i int) []byte { return mem[1000*i:][:100] }
	for i := range 3 {
		release(t, acquire(t, c, part(i)))
	}
	release(t, acquire(t, c, part(0))) // now 1 is the oldest
	used := acquire(t, c, part(3))
	if f := c.Figures(); f.Evictions != 1 || f.Registered != 300 || f.Idle != 200 {
		t.Errorf("%+v", f)
	}
	release(t, acquire(t, c, part(1)))
	if f := c.Figures(); f.Misses != 5 || f.Hits != 1 {
		t.Errorf("the oldest was not the one to go: %+v", f)
	}
	large := acquire(t, c, mem[500_000:][:1000]) // more than the limit: in use, it may
	if f := c.Figures(); f.Registered != 1100 || f.Idle != 0 {
		t.Errorf("%+v", f)
	}
	release(t, used)
	release(t, large)
}

// A registrar that refuses gets what is idle, and what others have to spare.
func TestPressure(t *testing.T) {
	mem, r := file(t, 1<<20), newCounting()
	r.limit = 1000
	relieved := 0
	c := newCache(t, Config{Rank: 5, Registrar: r, Limit: 1 << 30, Relieve: func() { relieved++ }}, mem)
	for i := range 10 {
		release(t, acquire(t, c, mem[1000*i:][:100]))
	}
	used := acquire(t, c, mem[50_000:][:600])
	if f := c.Figures(); f.Evictions != 10 || relieved != 0 {
		t.Errorf("%+v, %d", f, relieved)
	}
	_, ok, err := c.Acquire(mem[100_000:][:500])
	if !ok || !errors.Is(err, errMemlock) || relieved != 1 {
		t.Errorf("%v, %v, relieved %d times", ok, err, relieved)
	}
	for _, want := range []string{"rank 5: foreign memory: registering 500 bytes at 0x", "beside 600 B of foreign memory: cannot pin"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	release(t, used)
	release(t, acquire(t, c, mem[100_000:][:500]))
}

// Deregistration racing a transfer: what a transfer uses is deregistered when it ends,
// and not before; nobody finds it meanwhile.
func TestInvalidateWhileInUse(t *testing.T) {
	mem, r := file(t, 1<<20), newCounting()
	c := newCache(t, Config{Registrar: r, Limit: 1 << 30}, mem)
	u, v := acquire(t, c, mem[:1000]), acquire(t, c, mem[:100])
	if err := c.Invalidate(mem[50:60]); !errors.Is(err, ErrInUse) {
		t.Errorf("%v", err)
	}
	if len(r.open) != 1 {
		t.Error("deregistered under a transfer")
	}
	if err := c.Adopt(mem); err != nil {
		t.Fatal(err)
	}
	w := acquire(t, c, mem[:1000])
	if w.Remote().Key == u.Remote().Key {
		t.Error("what was invalidated is found")
	}
	release(t, u)
	release(t, v)
	if len(r.open) != 1 {
		t.Errorf("%d registrations", len(r.open))
	}
	release(t, w)
}

// Many goroutines acquire, check and release while others invalidate and adopt. What
// is in use is registered, always.
func TestConcurrent(t *testing.T) {
	mem, r := file(t, 64<<10), newCounting()
	c := newCache(t, Config{Registrar: r, Limit: 20_000}, mem)
	var all sync.WaitGroup
	for g := range 6 {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 4))
			for range 3000 {
				from := rng.IntN(60_000)
				part := mem[from:][:1+rng.IntN(4000)]
				if g == 0 && rng.IntN(50) == 0 {
					if err := c.Invalidate(part); err != nil && !errors.Is(err, ErrInUse) {
						t.Error(err)
					}
					if err := c.Adopt(mem); err != nil {
						t.Error(err)
					}
					continue
				}
				use, ok, err := c.Acquire(part)
				if !ok || err != nil {
					continue // invalidated just now
				}
				if use.entry.Value.(*counted).closed.Load() {
					t.Error("it is in use, and closed")
				}
				if err := use.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if err := c.Close(); err != nil || len(r.open) != 0 || c.Figures().Registered != 0 {
		t.Errorf("%v, %d open, %+v", err, len(r.open), c.Figures())
	}
}

func BenchmarkHit(b *testing.B) {
	mem := file(b, 1<<20)
	for _, entries := range []int{1, 1000} {
		c := newCache(b, Config{Registrar: newCounting(), Limit: 1 << 30}, mem)
		for i := range entries {
			release(b, acquire(b, c, mem[i*1000:][:900]))
		}
		name := map[int]string{1: "entries=1", 1000: "entries=1000"}[entries]
		b.Run(name, func(b *testing.B) {
			part := mem[entries/2*1000:][:800]
			b.ReportAllocs()
			for b.Loop() {
				u, _, _ := c.Acquire(part)
				_ = u.Release()
			}
		})
	}
}

// What an operation on other memory pays.
func BenchmarkNotAdopted(b *testing.B) {
	c := newCache(b, Config{Registrar: newCounting()}, file(b, 4096))
	heap := make([]byte, 100)
	for b.Loop() {
		_, _, _ = c.Acquire(heap)
	}
}
