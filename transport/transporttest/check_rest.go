package transporttest

import (
	"sync/atomic"
	"testing"

	"github.com/golaunch/golaunch/transport"
)

// What only endpoints with goroutines of their own can break.
var restChecks = []check{
	{"what arrives while a rank rests is announced by Progress, which may poll", 2, restingRankHears},
	{"a rank that rests is told again and again", 2, restingRankHearsAgain},
	{"completions come to a rank that rests", 2, restingRankCompletes},
}

// onProgress has f called by Config.Progress. It returns false if the endpoint
// has nothing to say by itself.
func (n *node) onProgress(t *testing.T, f func()) bool {
	if n.rester == nil {
		t.Log("no transport.Rester: nothing to check")
		return false
	}
	n.job.ranks[n.rank].progress.Store(&f)
	t.Cleanup(func() { n.job.ranks[n.rank].progress.Store(nil) })
	return true
}

// pollInProgress polls a few times, as Progress, for whatever decorates the
// endpoint may hold something back; it keeps what comes.
func (n *node) pollInProgress() {
	var buf [4]transport.Completion
	for range 4 * maxDelay {
		got, err := n.endpoint.Poll(buf[:])
		if err != nil {
			return
		}
		n.keep(buf[:got])
	}
	n.rester.Rest()
}

func restingRankHears(t *testing.T, nodes []*node) {
	n := nodes[1]
	if !n.onProgress(t, n.pollInProgress) {
		return
	}
	n.rester.Rest()
	ok(t, nodes[0].send(1, "wake up"))
	got, err := n.receive()
	ok(t, err)
	if got != (message{0, "wake up"}) {
		t.Errorf("received %+v", got)
	}
}

// restingRankHearsAgain: each message is answered from within Progress before the
// next is sent. Sends do not block here: there is credit.
func restingRankHearsAgain(t *testing.T, nodes []*node) {
	from, n := nodes[0], nodes[1]
	var failed atomic.Pointer[error]
	if !n.onProgress(t, func() {
		before := n.received()
		n.pollInProgress()
		for range n.received() - before {
			if err := n.send(0, "heard"); err != nil {
				failed.Store(&err)
			}
		}
	}) {
		return
	}
	start(from)
	for range 200 {
		ok(t, from.send(1, "hear"))
		_, err := from.receive()
		ok(t, err)
	}
	if err := failed.Load(); err != nil {
		t.Error(*err)
	}
}

func restingRankCompletes(t *testing.T, nodes []*node) {
	n := nodes[0]
	if !n.onProgress(t, n.pollInProgress) {
		return
	}
	s, err := nodes[1].share(1 << 20)
	ok(t, err)
	for k := range 20 {
		ok(t, putGetCompare(n, s, 100*k, pattern(uint64(k), 300_000)))
	}
}
