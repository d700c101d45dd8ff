package messages

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golaunch/golaunch/runtime/job"
	"github.com/golaunch/golaunch/runtime/rendezvous"
	"github.com/golaunch/golaunch/runtime/waiting"
	"github.com/golaunch/golaunch/runtime/world/router"
	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/shm"
	"github.com/golaunch/golaunch/transport/tcp"
	"github.com/golaunch/golaunch/transport/transporttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A rank of a test, whose waiting goroutines poll for themselves.
type rank struct {
	*Messages
	box      *Box
	router   *router.Router
	endpoint transport.Endpoint
	failed   []atomic.Pointer[job.RankFailedError] // by rank, as this one is told
	memory   *memory
}

// A way is how ranks reach each other.
type way struct {
	provider func(t testing.TB) transport.Provider
	local    bool // they share memory
	blind    bool
	bounces  bool // buffers of the heap are not registered
}

func delaying(t testing.TB) transport.Provider {
	return transporttest.Delaying(transporttest.NewReference(), transporttest.Seed(t))
}

func network(testing.TB) transport.Provider {
	return tcp.Provider{Secret: make([]byte, 32), Job: "test", Version: "1", Loopback: true}
}

func lateNetwork(t testing.TB) transport.Provider {
	return transporttest.Delaying(network(t), transporttest.Seed(t))
}

func shared(testing.TB) transport.Provider { return shm.Provider{} }

var ways = map[string]way{
	"copy":          {shared, true, false, false},
	"copy, delayed": {delaying, true, false, false},
	"window":        {shared, true, true, false},
	"push":          {network, false, true, false},
	"push, delayed": {lateNetwork, false, true, false},
	"bounce":        {network, false, true, true},
}

// memory is a rank's arena.
type memory struct {
	t        testing.TB
	job      *transporttest.Job
	rank     int
	endpoint transport.Endpoint
	bounces  bool
	mu       sync.Mutex
	blocks   []block
}

type block struct {
	mem   []byte
	place rendezvous.Place
}

func (a *memory) Alloc(n int) ([]byte, error) {
	key, offset, mem := a.job.Alloc(a.rank, n)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.blocks = append(a.blocks, block{mem, rendezvous.Place{Key: key, Offset: offset, Len: int64(n)}})
	return mem, nil
}

func (a *memory) Free([]byte) error { return nil }

func (a *memory) Locate(mem []byte) (rendezvous.Place, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, b := range a.blocks {
		if len(mem) > 0 && len(mem) <= len(b.mem) && &mem[0] == &b.mem[0] {
			p := b.place
			p.Len = int64(len(mem))
			return p, true
		}
	}
	return rendezvous.Place{Key: 1 << 40, Len: int64(len(mem))}, false // nobody may believe it
}

func (a *memory) At(rank int, p rendezvous.Place) ([]byte, error) {
	mem, err := a.job.Config(a.rank).Segment(rank, p.Key)
	if err != nil {
		return nil, err
	}
	if p.Offset+p.Len > int64(len(mem)) {
		return nil, fmt.Errorf("%d bytes at %d of %d", p.Len, p.Offset, len(mem))
	}
	return mem[p.Offset : p.Offset+p.Len], nil
}

func (a *memory) Bounces(_ int, mem []byte) bool {
	_, found := a.Locate(mem)
	return a.bounces && !found
}

func (a *memory) Register(_ int, mem []byte) (transport.Region, error) {
	p, found := a.Locate(mem)
	if a.bounces && !found {
		a.t.Errorf("%d bytes of the heap are registered", len(mem))
	}
	return a.endpoint.Register(p.Key, p.Offset, mem)
}

func (a *memory) Land(rank int, mem []byte) (transport.Landing, error) {
	if e, ok := a.endpoint.(transport.Lander); ok && !a.bounces {
		return e.Land(rank, mem)
	}
	return nil, errors.New("no landings")
}

// everybody polls for all ranks: in real jobs each has a goroutine that does.
type everybody []*rank

func (all everybody) Poll() (progress bool) {
	for _, r := range all {
		if r != nil && r.router != nil && r.router.Poll() {
			progress = true
		}
	}
	return progress
}

// until polls until c is over.
func until(ctx context.Context, r interface{ Poll() bool }, c waiting.Condition) error {
	for {
		if c.Ready() {
			return nil
		}
		err := c.Err()
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if c.Ready() {
			return nil
		}
		if err != nil {
			return err
		}
		if !r.Poll() {
			runtime.Gosched()
		}
	}
}

type readyFunc func() bool

func (f readyFunc) Ready() bool { return f() }
func (f readyFunc) Err() error  { return nil }

func newRanks(t testing.TB, w way, size int) []*rank {
	t.Helper()
	ranks := make([]*rank, size)
	jobs, p := transporttest.NewJob(size, nil), w.provider(t)
	all := make([]int, size)
	for i := range ranks {
		all[i] = i
		r := &rank{failed: make([]atomic.Pointer[job.RankFailedError], size)}
		ranks[i] = r
		r.open(t, w, jobs, p, ranks, i)
	}
	for i, r := range ranks {
		r.box = r.Box(77, "test", i, all)
	}
	t.Cleanup(func() { closeAll(t, ranks) })
	return ranks
}

func (r *rank) open(t testing.TB, w way, jobs *transporttest.Job, p transport.Provider, ranks []*rank, i int) {
	cfg := jobs.Config(i)
	cfg.Wait = func(ctx context.Context, _ int, ready func() bool) error {
		return until(ctx, everybody(ranks), readyFunc(ready))
	}
	e, err := p.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.endpoint = e
	failure := func(rank int) error {
		if err := r.failed[rank].Load(); err != nil {
			return err
		}
		return nil
	}
	r.router = router.New(router.Config{
		Rank: i, Size: len(ranks),
		Until:    func(ctx context.Context, c waiting.Condition) error { return until(ctx, everybody(ranks), c) },
		Wake:     func() {},
		HostName: func(int) string { return "" },
		Failure:  failure,
		Dial: func(ctx context.Context, to int) (transport.Conn, error) {
			return e.Dial(ctx, to, ranks[to].endpoint.Addr())
		},
	})
	r.router.Add(e, func(int) bool { return true })
	r.memory = &memory{t: t, job: jobs, rank: i, endpoint: e, bounces: w.bounces}
	r.Messages = Open(Config{
		Rank: i, Size: len(ranks), Router: r.router, Wake: func() {}, Ring: func(int) {}, Blind: w.blind, Failure: failure, Died: failure, Spins: w.local,
		Until:  func(ctx context.Context, c waiting.Condition) error { return until(ctx, everybody(ranks), c) },
		Local:  func(int) bool { return w.local },
		Memory: r.memory,
	})
}

func closeAll(t testing.TB, ranks []*rank) {
	for _, r := range ranks {
		r.Messages.Close(errors.New("closed by the test"))
	}
	for _, r := range ranks {
		r.router.Stop()
		if err := r.endpoint.Close(); err != nil {
			t.Error(err)
		}
		r.router.Close()
	}
}

// over runs a test on every way.
func over(t *testing.T, size int, body func(t *testing.T, ctx context.Context, ranks []*rank)) {
	for name, w := range ways {
		t.Run(name, func(t *testing.T) { body(t, deadline(t), newRanks(t, w, size)) })
	}
}

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// each runs body for every rank at once.
func each(t *testing.T, ranks []*rank, body func(i int, r *rank) error) {
	t.Helper()
	errs := make([]error, len(ranks))
	var all sync.WaitGroup
	for i, r := range ranks {
		all.Go(func() { errs[i] = body(i, r) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// pattern is n bytes that differ with the seed.
func pattern(n int, seed byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)*7 + byte(i>>8) + seed
	}
	return b
}
