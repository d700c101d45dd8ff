package transporttest

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/golaunch/golaunch/transport"
)

// What only endpoints with goroutines of their own can break.
var restChecks = []check{
	{"what arrives while a rank rests is announced by Progress, which may poll", 2, restingRankHears},
	{"a rank that rests is told again and again", 2, restingRankHearsAgain},
	{"completions come to a rank that rests", 2, restingRankCompletes},
	{"a rank that rests keeps no sender waiting for the buffers of its last Poll", 2, restingRankGivesBack},
	{"nor does one that stops polling without a word", 2, silentRankGivesBack},
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

func restingRankGivesBack(t *testing.T, nodes []*node) {
	giveBackAfterLastPoll(t, nodes[0], nodes[1], func() { nodes[1].rester.Rest() })
}

func silentRankGivesBack(t *testing.T, nodes []*node) {
	giveBackAfterLastPoll(t, nodes[0], nodes[1], func() {})
}

// giveBackAfterLastPoll has the rank poll once, when its sender has no credit left, and
// then no more: what the sender waits for is in the rank's hands, and nothing arrives
// that would remind it.
func giveBackAfterLastPoll(t *testing.T, from, n *node, stop func()) {
	var turn sync.Mutex // one Poll at a time
	polled := false     // for the last time
	if !n.onProgress(t, func() {
		turn.Lock()
		defer turn.Unlock()
		if polled {
			n.pollInProgress()
		}
	}) {
		return
	}
	var sent, total atomic.Int64
	total.Store(manyMessages)
	result := make(chan error, 1)
	go func() { result <- sendUpTo(from.conns[1], &total, &sent) }()
	ok(t, from.job.AwaitBlocked(from.ctx, 0, 1))
	total.Store(4 * sent.Load())
	var buf [256]transport.Completion
	ok(t, n.bell().until(n.ctx, func() (bool, error) {
		turn.Lock()
		defer turn.Unlock()
		got, err := n.endpoint.Poll(buf[:])
		n.keep(buf[:got])
		polled = got > 0
		return polled, err
	}))
	stop()
	for range total.Load() {
		_, err := n.receive()
		ok(t, err)
	}
	ok(t, <-result)
}

// sendUpTo sends messages of a KiB until there were total.
func sendUpTo(c transport.Conn, total, sent *atomic.Int64) error {
	msg := make([]byte, 1<<10)
	for sent.Load() < total.Load() {
		if err := c.Send(msg); err != nil {
			return err
		}
		sent.Add(1)
	}
	return nil
}
