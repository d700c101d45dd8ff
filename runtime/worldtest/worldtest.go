// Package worldtest runs rank programs inside go test: the ranks are goroutines
// of the test's process and use the same shared-memory code as processes do.
package worldtest

import (
	"context"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/golaunch/golaunch/runtime/world"
)

// Run runs body as each of n ranks and returns when all have ended. ctx ends
// with the test. The body need not call Leave.
//
// A rank that panics or ends by t.FailNow is a failed rank: whoever waits for it
// gets a *world.RankFailedError. A panic fails the test and is reported with its
// stack; the other ranks go on until they end.
func Run(t testing.TB, n int, body func(ctx context.Context, comm *world.Comm)) {
	t.Helper()
	RunHosts(t, 1, n, body)
}

// RunHosts is Run on several hosts of as many ranks each, the first host's first:
// ranks of different hosts share no memory and talk over TCP on the loopback
// interface.
func RunHosts(t testing.TB, hosts, ranksPerHost int, body func(ctx context.Context, comm *world.Comm)) {
	t.Helper()
	skipLaunched(t)
	comms, err := world.InProcessHosts(hosts, ranksPerHost)
	if err != nil {
		t.Fatalf("worldtest: %v", err)
	}
	var ranks sync.WaitGroup
	for _, comm := range comms {
		ranks.Go(func() { run(t, comm, body) })
	}
	ranks.Wait()
}

// run is one rank. Deferred, so that it also happens on Goexit: what ends without
// returning has failed, and every rank leaves.
func run(t testing.TB, comm *world.Comm, body func(context.Context, *world.Comm)) {
	returned := false
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("worldtest: rank %d panicked: %v\n%s", comm.Rank(), p, debug.Stack())
		}
		if world.Of(comm).HasLeft() {
			return
		}
		if !returned {
			if err := comm.Abort(1); err != nil {
				t.Errorf("worldtest: %v", err)
			}
		}
		if err := comm.Leave(); err != nil {
			t.Errorf("worldtest: %v", err)
		}
	}()
	body(t.Context(), comm)
	returned = true
}
