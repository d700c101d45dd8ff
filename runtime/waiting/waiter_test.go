package waiting

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golaunch/golaunch/internal/spawntest"
	"github.com/golaunch/golaunch/runtime/job"
)

// flag is a condition that a test sets.
type flag struct {
	up    atomic.Bool
	looks atomic.Int64
	err   func() error
}

func (f *flag) Ready() bool { f.looks.Add(1); return f.up.Load() }

func (f *flag) Err() error {
	if f.err == nil {
		return nil
	}
	return f.err()
}

func world(t testing.TB, size, cores int) *job.Memory {
	t.Helper()
	mem, err := job.Create(size, job.Options{Cores: cores, InProcess: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mem.Close() })
	return mem
}

// until starts a wait and returns the channel of its result.
func until(w *Waiter, ctx context.Context, c Condition) <-chan error {
	result := make(chan error, 1)
	go func() { result <- w.Until(ctx, c) }()
	return result
}

func receive(t *testing.T, result <-chan error) error {
	t.Helper()
	select {
	case err := <-result:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("the wait did not end")
		return nil
	}
}

// settled returns when the waiter's rank sleeps in its doorbell: it has stopped
// looking at its condition.
func settled(t *testing.T, w *Waiter) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; runtime.Gosched() {
		w.mu.Lock()
		sleeping := w.sleeping
		w.mu.Unlock()
		if sleeping {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the rank never went to sleep")
		}
	}
}

func newWaiter(t testing.TB, mem *job.Memory, rank int) *Waiter {
	w := New(mem, rank)
	t.Cleanup(w.Close)
	return w
}

func TestSleeperIsWokenByRing(t *testing.T) {
	for _, cores := range []int{1, 8} {
		mem := world(t, 2, cores)
		w, c := newWaiter(t, mem, 0), &flag{}
		result := until(w, t.Context(), c)
		settled(t, w)
		c.up.Store(true)
		mem.Ring(0)
		if err := receive(t, result); err != nil {
			t.Errorf("%d cores: %v", cores, err)
		}
	}
}

func TestSleeperStopsLooking(t *testing.T) {
	mem := world(t, 2, 1)
	w, c := newWaiter(t, mem, 0), &flag{}
	result := until(w, t.Context(), c)
	settled(t, w)
	for range 1000 { // let the goroutine reach the futex
		runtime.Gosched()
	}
	before := c.looks.Load()
	mem.Ring(1) // somebody else's bell
	for range 1000 {
		runtime.Gosched()
	}
	if after := c.looks.Load(); after > before+3 {
		t.Errorf("a sleeping rank looked %d times", after-before)
	}
	c.up.Store(true)
	mem.Ring(0)
	receive(t, result)
}

func TestCancellationEndsTheWait(t *testing.T) {
	mem := world(t, 2, 1)
	w := newWaiter(t, mem, 0)
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	result := until(w, ctx, &flag{})
	settled(t, w)
	cancel(cause)
	if err := receive(t, result); !errors.Is(err, cause) {
		t.Errorf("%v, want the context's cause", err)
	}
}

func TestManyContextsAtOnce(t *testing.T) {
	mem := world(t, 2, 1)
	w := newWaiter(t, mem, 0)
	var results []<-chan error
	var cancels []context.CancelFunc
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		cancels = append(cancels, cancel)
		results = append(results, until(w, ctx, &flag{}))
	}
	settled(t, w)
	for i := range cancels {
		cancels[i]()
		if err := receive(t, results[i]); !errors.Is(err, context.Canceled) {
			t.Errorf("wait %d: %v", i, err)
		}
	}
}

func TestErrEndsTheWaitButReadyCounts(t *testing.T) {
	mem := world(t, 2, 1)
	w := newWaiter(t, mem, 0)
	c := &flag{err: func() error { return mem.Failure(1) }}
	result := until(w, t.Context(), c)
	settled(t, w)
	mem.Report(1, job.Failed, 1)
	var failed *job.RankFailedError
	if err := receive(t, result); !errors.As(err, &failed) || failed.Rank != 1 {
		t.Errorf("%v, want rank 1's failure", err)
	}
	late := &flag{}
	late.err = func() error { late.up.Store(true); return errors.New("too late") }
	if err := w.Until(t.Context(), late); err != nil {
		t.Errorf("ready and failed: %v, want nil", err)
	}
}

func TestManyWaitersHoldFewThreads(t *testing.T) {
	const waiters = 10000
	mem, err := job.Create(2, job.Options{Cores: 1}) // a real futex
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mem.Close() })
	w := newWaiter(t, mem, 0)
	var group sync.WaitGroup
	flags := make([]flag, waiters)
	for i := range flags {
		group.Go(func() {
			if err := w.Until(t.Context(), &flags[i]); err != nil {
				t.Errorf("waiter %d: %v", i, err)
			}
		})
	}
	for parked := 0; parked < waiters-1; runtime.Gosched() {
		w.mu.Lock()
		parked = len(w.parked)
		w.mu.Unlock()
	}
	if n := threads(t); n >= 20 {
		t.Errorf("%d waiting goroutines hold %d threads", waiters, n)
	}
	for i := range flags {
		flags[i].up.Store(true)
	}
	mem.Ring(0)
	group.Wait()
}

func threads(t *testing.T) int {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	return len(tasks)
}

func TestUntilAllocatesNothing(t *testing.T) {
	mem := world(t, 2, 1)
	w := newWaiter(t, mem, 0)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	up := &flag{}
	up.up.Store(true)
	for name, c := range map[string]Condition{"ready": up, "after sleeping": &sleeper{waiter: w}} {
		if n := testing.AllocsPerRun(20, func() {
			if err := w.Until(ctx, c); err != nil {
				t.Error(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// sleeper is ready as soon as its rank sleeps.
type sleeper struct{ waiter *Waiter }

func (c *sleeper) Ready() bool {
	c.waiter.mu.Lock()
	defer c.waiter.mu.Unlock()
	return c.waiter.sleeping
}

func (c *sleeper) Err() error { return nil }

// TestPingPongAcrossProcesses passes a token through the waiter's three ways of
// waiting, in real processes.
func TestPingPongAcrossProcesses(t *testing.T) {
	const rounds = 20000
	if rank, ok := spawntest.Rank(); ok {
		mem, err := job.Map(os.NewFile(spawntest.FirstFile, "job"))
		if err != nil {
			t.Fatal(err)
		}
		playPingPong(t, mem, rank, rounds)
		return
	}
	for _, cores := range []int{1, 2} {
		for _, procs := range []int{1, 2, 4} {
			mem, err := job.Create(2, job.Options{Cores: cores, Extra: 64})
			if err != nil {
				t.Fatal(err)
			}
			spawntest.Run(t, 2, []string{"GOMAXPROCS=" + strconv.Itoa(procs)}, mem.File())
			mem.Close()
		}
	}
}

func playPingPong(t *testing.T, mem *job.Memory, rank int, rounds uint64) {
	w := newWaiter(t, mem, rank)
	token := wordIn(mem.Extra())
	for i := range rounds {
		turn := &reached{token, 2*i + uint64(rank)}
		if err := w.Until(t.Context(), turn); err != nil {
			t.Fatal(err)
		}
		token.Add(1)
		mem.Ring(1 - rank)
	}
}

type reached struct {
	word *atomic.Uint64
	want uint64
}

func (r *reached) Ready() bool { return r.word.Load() >= r.want }
func (r *reached) Err() error  { return nil }
