package router

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golaunch/golaunch/runtime/job"
	"github.com/golaunch/golaunch/runtime/waiting"
	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/shm"
	"github.com/golaunch/golaunch/transport/transporttest"
)

// A rank of a test has nobody but itself to poll for it: it polls while it waits,
// and blocked calls of its transport poll too.
type rank struct {
	*Router
	endpoint transport.Endpoint
}

// wait polls until ready or ctx is over.
func wait(ctx context.Context, r *Router, ready func() bool) error {
	for !ready() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !r.Poll() {
			runtime.Gosched()
		}
	}
	return nil
}

func newRanks(t *testing.T, p transport.Provider, size int) []*rank {
	t.Helper()
	jobs := transporttest.NewJob(size, nil)
	ranks := make([]*rank, size)
	for i := range ranks {
		var r *Router
		cfg := jobs.Config(i)
		cfg.Wait = func(ctx context.Context, _ int, ready func() bool) error { return wait(ctx, r, ready) }
		e, err := p.Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		r = New(Config{
			Rank: i, Size: size,
			Until: func(ctx context.Context, c waiting.Condition) error {
				return wait(ctx, r, func() bool { return c.Ready() || c.Err() != nil })
			},
			Wake:     func() {},
			HostName: func(int) string { return "" },
			Failure:  func(int) error { return nil },
			Dial: func(ctx context.Context, to int) (transport.Conn, error) {
				return e.Dial(ctx, to, ranks[to].endpoint.Addr())
			},
		})
		r.Add(e, func(int) bool { return true })
		ranks[i] = &rank{r, e}
		t.Cleanup(func() {
			r.Stop()
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			r.Close()
		})
	}
	return ranks
}

var providers = map[string]func(t *testing.T) transport.Provider{
	"reference": func(*testing.T) transport.Provider { return transporttest.NewReference() },
	"delaying": func(t *testing.T) transport.Provider {
		return transporttest.Delaying(transporttest.NewReference(), transporttest.Seed(t))
	},
	"shm": func(*testing.T) transport.Provider { return shm.Provider{} },
}

// over runs a test on several transports.
func over(t *testing.T, size int, body func(t *testing.T, ctx context.Context, ranks []*rank)) {
	for name, p := range providers {
		t.Run(name, func(t *testing.T) { body(t, deadline(t), newRanks(t, p(t), size)) })
	}
}

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
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

// Every rank sends far more to every rank than there is credit for, on one
// goroutine each, before it looks for anything: nobody may stop.
func TestEverybodySendsToEverybodyAtOnce(t *testing.T) {
	const size, count = 3, 500
	over(t, size, func(t *testing.T, ctx context.Context, ranks []*rank) {
		next := make([][size]uint32, size) // by receiver and sender
		var served atomic.Int32
		for i, r := range ranks {
			r.OpenAt(7, func(from int, msg []byte) {
				if got := binary.LittleEndian.Uint32(msg); got != next[i][from] || len(msg) != MaxMessage {
					t.Errorf("rank %d: message %d of rank %d, %d bytes, want number %d", i, got, from, len(msg), next[i][from])
				}
				next[i][from]++
			})
		}
		each(t, ranks, func(i int, r *rank) error {
			msg := make([]byte, MaxMessage)
			for k := range count {
				for to := range size {
					binary.LittleEndian.PutUint32(msg, uint32(k))
					if err := r.Send(ctx, to, 7, msg); err != nil {
						return err
					}
				}
			}
			if err := wait(ctx, r.Router, func() bool { return next[i] == [size]uint32{count, count, count} }); err != nil {
				return err
			}
			served.Add(1)
			return wait(ctx, r.Router, func() bool { return served.Load() == size }) // others may still wait for credit
		})
	})
}

func TestHandlersAnswer(t *testing.T) {
	const count = 300
	over(t, 2, func(t *testing.T, ctx context.Context, ranks []*rank) {
		var answers [2]atomic.Int64
		for i, r := range ranks {
			r.OpenAt(1, func(from int, msg []byte) {
				if err := r.Post(from, 2, msg); err != nil {
					t.Error(err)
				}
			})
			r.OpenAt(2, func(_ int, msg []byte) {
				if got := int64(binary.LittleEndian.Uint32(msg)); got != answers[i].Load() {
					t.Errorf("rank %d: answer %d, want %d", i, got, answers[i].Load())
				}
				answers[i].Add(1)
			})
		}
		each(t, ranks, func(i int, r *rank) error {
			for k := range count {
				if err := r.Send(ctx, 1-i, 1, binary.LittleEndian.AppendUint32(nil, uint32(k))); err != nil {
					return err
				}
			}
			// A rank goes on polling until the other has its answers, too.
			return wait(ctx, r.Router, func() bool { return answers[0].Load() == count && answers[1].Load() == count })
		})
	})
}

func TestOperationsComplete(t *testing.T) {
	over(t, 2, func(t *testing.T, ctx context.Context, ranks []*rank) {
		r := ranks[0]
		c, err := r.Conn(ctx, 1)
		if err != nil {
			t.Fatal(err)
		}
		for range 1000 { // more than there are places for completions
			op := r.NewOp()
			if err := c.Flush(op.ID()); err != nil {
				t.Fatal(err)
			}
			if err := r.Await(ctx, 1, op); err != nil {
				t.Fatal(err)
			}
		}
		if len(r.ops.all) != 1 {
			t.Errorf("%d operations were made, one after the other", len(r.ops.all))
		}
	})
}

func TestRefusedOperationIsDropped(t *testing.T) {
	over(t, 2, func(t *testing.T, ctx context.Context, ranks []*rank) {
		r := ranks[0]
		c, err := r.Conn(ctx, 1)
		if err != nil {
			t.Fatal(err)
		}
		op := r.NewOp()
		err = c.Put(transport.Remote{Key: 12345, Len: 8}, make([]byte, 8), op.ID())
		if err == nil { // it may also say so later
			err = r.Await(ctx, 1, op)
		} else {
			r.Drop(op)
		}
		if !errors.Is(err, transport.ErrKey) {
			t.Errorf("%v, want ErrKey", err)
		}
		if len(r.ops.free) != 1 {
			t.Errorf("%d free operations, want 1", len(r.ops.free))
		}
	})
}

func TestClosedPortDropsMessages(t *testing.T) {
	over(t, 2, func(t *testing.T, ctx context.Context, ranks []*rank) {
		got := 0
		closed := ranks[1].Open(func(int, []byte) { t.Error("a closed port's handler ran") })
		open := ranks[1].Open(func(int, []byte) { got++ })
		closed.Close()
		closed.Close()
		for _, p := range []*Port{closed, open} {
			if err := ranks[0].Send(ctx, 1, p.Number(), nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := wait(ctx, ranks[1].Router, func() bool { return got == 1 }); err != nil {
			t.Error(err)
		}
		if closed.Number() == open.Number() || open.Number() < FirstPort {
			t.Errorf("numbers %d and %d", closed.Number(), open.Number())
		}
	})
}

func TestSendRefusesLongMessages(t *testing.T) {
	over(t, 2, func(t *testing.T, ctx context.Context, ranks []*rank) {
		long := make([]byte, MaxMessage+1)
		if err := ranks[0].Send(ctx, 1, 1, long); !errors.Is(err, transport.ErrTooLong) {
			t.Errorf("Send: %v", err)
		}
		if err := ranks[0].Post(1, 1, long); !errors.Is(err, transport.ErrTooLong) {
			t.Errorf("Post: %v", err)
		}
	})
}

func TestClosedPeerIsAFailedRank(t *testing.T) {
	over(t, 2, func(t *testing.T, ctx context.Context, ranks []*rank) {
		if _, err := ranks[0].Conn(ctx, 1); err != nil {
			t.Fatal(err)
		}
		if err := ranks[1].endpoint.Close(); err != nil {
			t.Fatal(err)
		}
		var failed *job.RankFailedError
		if err := ranks[0].Send(ctx, 1, 1, nil); !errors.As(err, &failed) || failed.Rank != 1 {
			t.Errorf("%v, want the failure of rank 1", err)
		}
	})
}

func TestAfterStopEverythingIsAnError(t *testing.T) {
	over(t, 2, func(t *testing.T, ctx context.Context, ranks []*rank) {
		r := ranks[0]
		r.Stop()
		_, dial := r.Conn(ctx, 1)
		for what, err := range map[string]error{"Conn": dial, "Send": r.Send(ctx, 1, 1, nil), "Post": r.Post(1, 1, nil)} {
			if err == nil {
				t.Errorf("%s succeeded", what)
			}
		}
	})
}

func TestConcurrentDialsAreOne(t *testing.T) {
	var dials atomic.Int32
	r := New(Config{Rank: 0, Size: 2, Failure: func(int) error { return nil }, HostName: func(int) string { return "" },
		Dial: func(context.Context, int) (transport.Conn, error) {
			if dials.Add(1) == 1 {
				return nil, errors.New("not yet")
			}
			runtime.Gosched()
			return &counted{}, nil
		}})
	if _, err := r.Conn(t.Context(), 1); err == nil {
		t.Error("the failed dial was kept")
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := r.Conn(t.Context(), 1); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if dials.Load() != 2 {
		t.Errorf("dialled %d times", dials.Load())
	}
}

// A counter is an endpoint that brings as many completions as it was given.
type counter struct {
	transport.Endpoint
	left    atomic.Int64
	polling atomic.Int32
	err     error
	brings  transport.Completion
	t       *testing.T
}

func (c *counter) Poll(done []transport.Completion) (int, error) {
	if c.polling.Add(1) > 1 {
		c.t.Error("two Polls at once")
	}
	defer c.polling.Add(-1)
	if c.err != nil || c.left.Load() == 0 {
		return 0, c.err
	}
	n := min(int(c.left.Load()), len(done))
	c.left.Add(-int64(n))
	for i := range n {
		done[i] = c.brings
	}
	return n, nil
}

func withCounter(t *testing.T, c *counter) *Router {
	c.t = t
	r := New(Config{Rank: 0, Size: 2, Wake: func() {}, HostName: func(int) string { return "far" }, Failure: func(int) error { return nil }})
	r.Add(c, func(rank int) bool { return rank == 1 })
	return r
}

// Closing a port takes the turn for a moment: who wanted to poll then is not
// forgotten.
func TestClosingPortsLeavesNothing(t *testing.T) {
	c := &counter{brings: transport.Completion{Op: 99}}
	r := withCounter(t, c)
	for range 2000 {
		var all sync.WaitGroup
		all.Go(func() { r.Open(func(int, []byte) {}).Close() })
		all.Go(func() {
			c.left.Add(1)
			r.Poll()
		})
		all.Wait()
		if left := c.left.Load(); left != 0 {
			t.Fatalf("%d were left", left)
		}
	}
}

// A resting endpoint is left alone by a rank that is about to sleep.
func TestDrowseLeavesResters(t *testing.T) {
	c, resting := &counter{brings: transport.Completion{Op: 99}}, &restingCounter{}
	resting.t = t
	r := withCounter(t, c)
	r.Add(resting, func(int) bool { return false })
	c.left.Store(100)
	resting.left.Store(1)
	r.Drowse()
	if c.left.Load() != 0 || resting.left.Load() != 1 {
		t.Errorf("%d and %d are left, want 0 and 1", c.left.Load(), resting.left.Load())
	}
	r.Progress()
	if resting.left.Load() != 0 || resting.rests != 1 {
		t.Errorf("%d are left, rested %d times", resting.left.Load(), resting.rests)
	}
}

type restingCounter struct {
	counter
	rests int
}

func (c *restingCounter) Rest() { c.rests++ }

// What arrived before a call of Poll is not left lying by those that come second.
func TestNothingIsLeftByConcurrentPolls(t *testing.T) {
	c := &counter{brings: transport.Completion{Op: 99}}
	r := withCounter(t, c)
	for range 2000 {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				c.left.Add(20)
				r.Poll()
			})
		}
		all.Wait()
		if left := c.left.Load(); left != 0 {
			t.Fatalf("%d were left", left)
		}
	}
}

func TestLastWordOfARank(t *testing.T) {
	of1 := func(c transport.Completion) *counter {
		c.Rank = 1
		return &counter{brings: c}
	}
	for want, c := range map[string]*counter{
		"no route": of1(transport.Completion{Err: errors.New("no route")}),
		"it has closed its end of the connection": of1(transport.Completion{Err: transport.ErrClosed}),
		"epoll is gone":                                   {err: errors.New("epoll is gone")},
		"a message of 5 bytes, want at least 8":           of1(transport.Completion{Message: []byte("short")}),
		"a message with 0x38373635 where zeros should be": of1(transport.Completion{Message: []byte("12345678")}),
	} {
		c.left.Store(1)
		r := withCounter(t, c)
		if err := r.Failure(1); err != nil {
			t.Errorf("%s: too early: %v", want, err)
		}
		r.Poll()
		if err := r.Failure(1); err == nil || err.Error() != "rank 1 (far) failed: "+want {
			t.Errorf("%v, want %q", err, want)
		}
		if err := r.Failure(0); err != nil {
			t.Errorf("%s: rank 0 as well: %v", want, err)
		}
	}
}

// A cancelled Await leaves an operation that completes later, or twice, or never.
func TestAbandonedOperation(t *testing.T) {
	r := New(Config{Rank: 0, Size: 2, Failure: func(int) error { return nil },
		Until: func(ctx context.Context, c waiting.Condition) error { return context.Cause(ctx) }})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("had enough"))
	op := r.NewOp()
	id := op.ID()
	if err := r.Await(ctx, 1, op); err == nil || err.Error() != "operation to rank 1: had enough" {
		t.Error(err)
	}
	if other := r.NewOp(); other == op {
		t.Error("an operation under way was used again")
	}
	r.ops.complete(id, nil)
	r.ops.complete(id, nil)
	if len(r.ops.free) != 1 {
		t.Errorf("%d free operations, want 1", len(r.ops.free))
	}
	if again := r.NewOp(); again != op || again.ID() == id {
		t.Error("the operation was not used again, or with the same number")
	}
	for _, strange := range []transport.OpID{0, id, 3, 1 << 40, 1<<64 - 1} {
		r.ops.complete(strange, nil)
	}
	if op.Done() {
		t.Error("another operation's completion was taken for this one's")
	}
}

func TestStatsCountByPath(t *testing.T) {
	s := NewStats(func(rank int) int { return rank })
	c := s.counting(nothing{}, TCP)
	for _, err := range []error{
		c.Put(transport.Remote{}, make([]byte, 10), 0), c.Get(make([]byte, 20), transport.Remote{}, 0),
		c.FetchAdd(transport.Remote{}, 1, nil, 0), c.CompareSwap(transport.Remote{}, 1, 2, nil, 0), c.Send(make([]byte, 5)),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	s.waited(TCP, time.Now().Add(-time.Second))
	got := s.Counts()[TCP]
	if got.Path != "tcp" || got.Ops != 5 || got.Bytes != 51 || got.Waited < time.Second {
		t.Errorf("%+v", got)
	}
	if other := s.Counts()[Shm]; other.Ops != 0 || other.Waited != 0 {
		t.Errorf("%+v", other)
	}
}

type nothing struct{ transport.Conn }

func (nothing) Put(transport.Remote, []byte, transport.OpID) error               { return nil }
func (nothing) Get([]byte, transport.Remote, transport.OpID) error               { return nil }
func (nothing) FetchAdd(transport.Remote, uint64, *uint64, transport.OpID) error { return nil }
func (nothing) CompareSwap(transport.Remote, uint64, uint64, *uint64, transport.OpID) error {
	return nil
}
func (nothing) Send([]byte) error { return nil }

// FuzzDeliver: whatever arrives, only well-formed messages reach a handler.
func FuzzDeliver(f *testing.F) {
	f.Add([]byte{3, 0, 0, 0, 0, 0, 0, 0, 'x'})
	f.Add([]byte{3, 0, 0, 0, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, msg []byte) {
		r := New(Config{Size: 1})
		called := false
		r.OpenAt(3, func(_ int, got []byte) {
			called = true
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", msg[PrefixSize:]) {
				t.Errorf("%q arrived as %q", msg, got)
			}
		})
		err := r.ports.deliver(0, msg)
		want := len(msg) >= PrefixSize && binary.LittleEndian.Uint64(msg) == 3
		if called != want || want && err != nil {
			t.Errorf("%q: called %v, %v", msg, called, err)
		}
	})
}
