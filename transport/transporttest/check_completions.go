package transporttest

import (
	"context"
	"fmt"
	"testing"

	"github.com/golaunch/golaunch/transport"
)

var completionChecks = []check{
	{"every operation and every Flush completes exactly once, with its rank", 3, everyOperationCompletesOnce},
	{"OpID 0 gives no completion", 2, opZeroGivesNoCompletion},
	{"Poll with a short slice loses nothing", 3, shortPollLosesNothing},
	{"Poll with an empty slice does nothing", 2, emptyPollDoesNothing},
	{"when a Flush has completed, everything before it has taken effect", 2, flushIsBehindEverything},
	{"steady Send, Put, Get, FetchAdd, Flush and Poll allocate nothing", 2, steadyStateAllocatesNothing},
}

func everyOperationCompletesOnce(t *testing.T, nodes []*node) {
	n := nodes[0]
	const rounds = 100
	targets := make(map[transport.OpID]int)
	for target := 1; target < 3; target++ {
		s, err := nodes[target].share(64)
		ok(t, err)
		for range rounds / 10 {
			ok(t, startOneOfEach(n, s, targets))
		}
	}
	ok(t, n.poll(func() bool { count, _ := n.completed(); return count >= len(targets) }))
	ok(t, n.settled())
	count, err := n.completed()
	ok(t, err)
	if count != len(targets) {
		t.Errorf("%d operations gave %d completions", len(targets), count)
	}
	for op, target := range targets {
		if done := n.done[op]; len(done) != 1 || done[0].Rank != target || done[0].Err != nil {
			t.Errorf("operation %d on rank %d completed as %+v", op, target, done)
		}
	}
}

// startOneOfEach starts one operation of every kind and notes its target.
func startOneOfEach(n *node, s shared, targets map[transport.OpID]int) error {
	c := n.conns[s.owner]
	for _, start := range []func(op transport.OpID) error{
		func(op transport.OpID) error { return c.Put(s.remote, make([]byte, 64), op) },
		func(op transport.OpID) error { return c.Get(make([]byte, 64), s.remote, op) },
		func(op transport.OpID) error { return c.FetchAdd(s.remote, 1, new(uint64), op) },
		func(op transport.OpID) error { return c.CompareSwap(s.remote, 0, 1, new(uint64), op) },
		func(op transport.OpID) error { return c.Flush(op) },
	} {
		op := n.newOp()
		targets[op] = s.owner
		if err := start(op); err != nil {
			return err
		}
	}
	return nil
}

// settled makes sure that nothing is still on its way: a message to this rank
// itself and a Flush come back, and then as many Polls as any decorator holds
// something back bring nothing else.
func (n *node) settled() error {
	before := n.received()
	if err := n.send(n.rank, "settled?"); err != nil {
		return err
	}
	if err := n.poll(func() bool { return n.received() > before }); err != nil {
		return err
	}
	var buf [16]transport.Completion
	for range 4 * maxDelay {
		got, err := n.endpoint.Poll(buf[:])
		if err != nil {
			return err
		}
		n.keep(buf[:got])
	}
	return nil
}

func opZeroGivesNoCompletion(t *testing.T, nodes []*node) {
	n := nodes[0]
	s, err := nodes[1].share(8)
	ok(t, err)
	var old uint64
	ok(t, n.conns[1].Put(s.remote, make([]byte, 8), 0))
	ok(t, n.conns[1].Get(make([]byte, 8), s.remote, 0))
	ok(t, n.conns[1].FetchAdd(s.remote, 1, &old, 0))
	ok(t, n.conns[1].CompareSwap(s.remote, 1, 2, &old, 0))
	ok(t, n.conns[1].Flush(0))
	last := n.newOp()
	ok(t, n.conns[1].Flush(last))
	ok(t, n.poll(func() bool { return len(n.done[last]) > 0 }))
	ok(t, n.settled())
	if len(n.done) != 1 || len(n.strange) != 0 {
		t.Errorf("operations without OpID gave completions: %v %v", n.done, n.strange)
	}
}

// shortPollLosesNothing takes one at a time while messages of two ranks and
// completions are waiting.
func shortPollLosesNothing(t *testing.T, nodes []*node) {
	n := nodes[0]
	s, err := nodes[1].share(8)
	ok(t, err)
	const count = transport.MinCredit
	for k := range count {
		ok(t, n.conns[1].Put(s.remote, make([]byte, 8), n.newOp()))
		ok(t, nodes[1].send(0, fmt.Sprint(k)))
		ok(t, nodes[2].send(0, fmt.Sprint(k)))
	}
	for range 3 * count {
		one, err := n.pollOne()
		ok(t, err)
		n.keep([]transport.Completion{one})
	}
	next := map[int]int{}
	for _, m := range n.inbox {
		if m.text != fmt.Sprint(next[m.rank]) {
			t.Errorf("rank %d: message %q in the place of %d", m.rank, m.text, next[m.rank])
		}
		next[m.rank]++
	}
	done, err := n.completed()
	ok(t, err)
	if done != count || next[1] != count || next[2] != count {
		t.Errorf("of %d each, %d completions and %v messages came", count, done, next)
	}
}

func emptyPollDoesNothing(t *testing.T, nodes []*node) {
	ok(t, nodes[0].send(1, "wait"))
	for range 3 {
		if got, err := nodes[1].endpoint.Poll(nil); got != 0 || err != nil {
			t.Errorf("Poll(nil) = %d, %v", got, err)
		}
	}
	got, err := nodes[1].pollOne()
	ok(t, err)
	if string(got.Message) != "wait" {
		t.Errorf("got %+v", got)
	}
}

func flushIsBehindEverything(t *testing.T, nodes []*node) {
	n := nodes[0]
	start(n)
	const words = 100
	s, err := nodes[1].share(8 * words)
	ok(t, err)
	olds, got := make([]uint64, words), make([]byte, 8)
	for k := range words {
		ok(t, n.conns[1].FetchAdd(s.part(int64(8*k), 8), uint64(k), nil, 0))
		ok(t, n.conns[1].FetchAdd(s.part(int64(8*k), 8), 0, &olds[k], 0))
	}
	ok(t, n.conns[1].Get(got, s.part(0, 8), 0))
	ok(t, n.flush(1))
	for k, old := range olds {
		if old != uint64(k) {
			t.Fatalf("word %d was %d when the Flush completed", k, old)
		}
	}
}

// steadyStateAllocatesNothing: after the first round has set everything up.
func steadyStateAllocatesNothing(t *testing.T, nodes []*node) {
	from, to := nodes[0], nodes[1]
	if why := from.job.why; why != "" {
		t.Skip(why)
	}
	s, err := to.share(64)
	ok(t, err)
	msg, word, old := make([]byte, 64), make([]byte, 8), uint64(0)
	c := from.conns[1]
	round := func() {
		op := from.newOp()
		failed := c.Put(s.part(8, 8), word, 0) != nil || c.Get(word, s.part(8, 8), 0) != nil ||
			c.FetchAdd(s.part(0, 8), 1, &old, 0) != nil || c.Send(msg) != nil || c.Flush(op) != nil
		if failed {
			t.Fatal("an operation failed")
		}
		ok(t, drainOne(from))
		ok(t, drainOne(to))
	}
	for _, n := range nodes {
		defer context.AfterFunc(n.ctx, n.bell().ring)()
	}
	round()
	if allocs := testing.AllocsPerRun(200, round); allocs != 0 {
		t.Errorf("%v allocations a round", allocs)
	}
}

// drainOne polls until one completion has come; it allocates nothing itself. The
// caller arranges that the end of n.ctx rings.
func drainOne(n *node) error {
	for {
		seen := n.bell().count()
		got, err := n.pollOrRest(n.one[:])
		if got == 1 || err != nil {
			return err
		}
		if n.ctx.Err() != nil {
			return n.ctx.Err()
		}
		n.bell().wait(n.ctx, seen)
	}
}
