package transporttest

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golaunch/golaunch/transport"
)

// patienceVariable sets how long a check waits for something that must happen, in
// the notation of time.ParseDuration.
const patienceVariable = "GOLAUNCH_TEST_PATIENCE"

func patience() time.Duration {
	if d, err := time.ParseDuration(os.Getenv(patienceVariable)); err == nil {
		return d
	}
	return 60 * time.Second
}

// A check is one rule of the contract, with the number of ranks it needs.
type check struct {
	rule string
	size int
	run  func(t *testing.T, nodes []*node)
}

// Run checks that the transport under newWorld keeps the contract. newWorld is
// called once for each rule and opens the endpoints of size ranks; [NewWorld]
// does that.
func Run(t *testing.T, newWorld func(t testing.TB, size int) *World) {
	checks := slices.Concat(transferChecks, boundsChecks, keyChecks, atomicChecks, messageChecks, creditChecks,
		completionChecks, trySendChecks, putSendChecks, restChecks, closeChecks, failureChecks, concurrencyChecks, programChecks)
	for _, c := range checks {
		t.Run(c.rule, func(t *testing.T) { c.run(t, newNodes(t, newWorld, c.size)) })
	}
	t.Run("Close leaves no goroutine behind", func(t *testing.T) { leavesNothing(t, newWorld) })
}

// RunWatched checks what the transport under newWorld promises ranks that wait for its
// descriptors themselves: its endpoints are Wakers, and newWorld has the option [Watching].
func RunWatched(t *testing.T, newWorld func(t testing.TB, size int) *World) {
	for _, c := range watchChecks {
		t.Run(c.rule, func(t *testing.T) { c.run(t, newNodes(t, newWorld, c.size)) })
	}
}

// newNodes opens a world and connects every rank with every rank, itself
// included.
func newNodes(t *testing.T, newWorld func(t testing.TB, size int) *World, size int) []*node {
	t.Helper()
	w := newWorld(t, size)
	ctx, cancel := context.WithTimeout(t.Context(), patience())
	t.Cleanup(cancel)
	nodes := make([]*node, size)
	for rank := range nodes {
		nodes[rank] = newNode(ctx, w, rank)
		t.Cleanup(nodes[rank].stop)
	}
	for _, n := range nodes {
		n.conns = make([]transport.Conn, size)
		for rank, peer := range nodes {
			c, err := n.endpoint.Dial(ctx, rank, peer.endpoint.Addr())
			ok(t, err)
			n.conns[rank] = c
		}
	}
	return nodes
}

// start lets nodes poll, each on a goroutine of its own.
func start(nodes ...*node) {
	for _, n := range nodes {
		n.start()
	}
}

// ok ends the test unless err is nil.
func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wants reports an error that does not wrap target.
func wants(t testing.TB, target, err error, what string, args ...any) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf(what+": got error %v, want %v", append(args, err, target)...)
	}
}

// parallel runs body for 0 to n-1 at once and ends the test when one failed.
func parallel(t *testing.T, n int, body func(i int) error) {
	t.Helper()
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = body(i) })
	}
	all.Wait()
	ok(t, errors.Join(errs...))
}

func leavesNothing(t *testing.T, newWorld func(t testing.TB, size int) *World) {
	before := goleak.IgnoreCurrent()
	t.Run("world", func(t *testing.T) {
		nodes := newNodes(t, newWorld, 3)
		start(nodes...)
		for _, n := range nodes {
			ok(t, n.send((n.rank+1)%3, "hello"))
		}
		for _, n := range nodes {
			_, err := n.receive()
			ok(t, err)
		}
	})
	runtime.GC()
	goleak.VerifyNone(t, before)
}
