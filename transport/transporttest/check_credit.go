package transporttest

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/golaunch/golaunch/transport"
)

var creditChecks = []check{
	{"a sender that outruns its receiver blocks, and goes on when it polls", 2, senderBlocksAndGoesOn},
	{"MinCredit messages are accepted although nobody polls", 2, minCreditIsAccepted},
	{"MinOutstanding operations are accepted although nobody polls", 2, minOutstandingIsAccepted},
	{"operations that outrun the polling block, and none is lost", 2, operationsBlockAndGoOn},
	{"two blocked senders of one rank both go on", 2, twoBlockedSendersGoOn},
}

// manyMessages of a KiB are far more than any transport may hold for a receiver
// that does not poll, and mayHold bounds what it may take of memory meanwhile.
const (
	manyMessages = 24 << 10
	mayHold      = 16 << 20
)

func heapBytes() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

func senderBlocksAndGoesOn(t *testing.T, nodes []*node) {
	from, to := nodes[0], nodes[1]
	before := heapBytes()
	var sent atomic.Int64
	result := make(chan error, 1)
	go func() { result <- sendMany(from.conns[1], manyMessages, &sent) }()
	ok(t, from.job.awaitBlocked(from.ctx, 0, 1, func() bool { return sent.Load() >= transport.MinCredit }))
	accepted := int(sent.Load())
	if grown := heapBytes() - before + from.job.ScratchBytes(0); grown > mayHold {
		t.Errorf("%d messages of 1 KiB to a rank that never polls took %d bytes", accepted, grown)
	}
	if accepted >= manyMessages {
		t.Errorf("%d messages are accepted, and nobody polls", accepted)
	}
	ok(t, countMessages(to, manyMessages))
	ok(t, <-result)
}

func sendMany(c transport.Conn, count int, sent *atomic.Int64) error {
	msg := make([]byte, 1<<10)
	for k := range count {
		msg[0], msg[1], msg[2] = byte(k), byte(k>>8), byte(k>>16)
		if err := c.Send(msg); err != nil {
			return fmt.Errorf("message %d: %w", k, err)
		}
		sent.Add(1)
	}
	return nil
}

// countMessages polls on this goroutine, and keeps only what it checks.
func countMessages(n *node, count int) error {
	var buf [16]transport.Completion
	next := 0
	return n.bell().until(n.ctx, func() (bool, error) {
		for next < count {
			got, err := n.pollOrRest(buf[:])
			if got == 0 || err != nil {
				return false, err
			}
			for _, c := range buf[:got] {
				if m := c.Message; len(m) != 1<<10 || int(m[0])|int(m[1])<<8|int(m[2])<<16 != next {
					return false, fmt.Errorf("message %d: got %d bytes beginning %x", next, len(m), m[:min(3, len(m))])
				}
				next++
			}
		}
		return true, nil
	})
}

// minCreditIsAccepted is the exchange in which everybody sends first: it must
// not depend on anybody polling.
func minCreditIsAccepted(t *testing.T, nodes []*node) {
	parallel(t, 2, func(rank int) error {
		for k := range transport.MinCredit {
			if err := nodes[rank].send(1-rank, text(rank, k, transport.MaxMessage)); err != nil {
				return err
			}
		}
		return nil
	})
	start(nodes...)
	for rank, n := range nodes {
		for k := range transport.MinCredit {
			got, err := n.receive()
			ok(t, err)
			if got != (message{1 - rank, text(1-rank, k, transport.MaxMessage)}) {
				t.Errorf("rank %d: message %d is not what was sent", rank, k)
			}
		}
	}
}

func minOutstandingIsAccepted(t *testing.T, nodes []*node) {
	n := nodes[0]
	s, err := nodes[1].share(8)
	ok(t, err)
	for range transport.MinOutstanding {
		ok(t, n.conns[1].Put(s.remote, make([]byte, 8), n.newOp()))
	}
	ok(t, n.poll(func() bool { count, _ := n.completed(); return count == transport.MinOutstanding }))
}

func operationsBlockAndGoOn(t *testing.T, nodes []*node) {
	n := nodes[0]
	s, err := nodes[1].share(8)
	ok(t, err)
	const each, origins = 3000, 4
	result := make(chan error, origins)
	for range origins {
		go func() {
			for range each {
				if err := n.conns[1].FetchAdd(s.remote, 1, nil, n.newOp()); err != nil {
					result <- err
					return
				}
			}
			result <- nil
		}()
	}
	ok(t, n.job.AwaitBlocked(n.ctx, 0, origins))
	start(n)
	for range origins {
		ok(t, <-result)
	}
	for op := range transport.OpID(each * origins) {
		_, err := n.await(op + 1)
		ok(t, err)
	}
	if sum, err := n.word(s); err != nil || sum != each*origins {
		t.Errorf("%d additions of 1 make %d (%v)", each*origins, sum, err)
	}
	_, err = n.completed()
	ok(t, err)
}

func twoBlockedSendersGoOn(t *testing.T, nodes []*node) {
	n := nodes[0]
	const each = 2000
	result := make(chan error, 2)
	for range cap(result) {
		go func() {
			var sent atomic.Int64
			result <- sendMany(n.conns[1], each, &sent)
		}()
	}
	ok(t, n.job.AwaitBlocked(n.ctx, 0, 2))
	start(nodes[1])
	for range 2 * each {
		_, err := nodes[1].receive()
		ok(t, err)
	}
	for range cap(result) {
		ok(t, <-result)
	}
}
