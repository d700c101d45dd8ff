package transporttest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport"
)

// A node is one rank as the checks use it: its endpoint, a connection to every
// rank, and, once started, a goroutine that polls.
//
// Its methods may be called from any goroutine and return errors, so that checks
// can use them where testing.T may not be used.
type node struct {
	rank     int
	ctx      context.Context // ends with the check, or when it takes too long
	job      *Job
	endpoint transport.Endpoint
	rester   transport.Rester // the endpoint, or nil
	conns    []transport.Conn

	nextOp  atomic.Uint64
	stopped atomic.Bool
	ended   chan struct{} // closed when the poller has returned; nil: not started

	arrived bell // rings when the poller has added something below
	mu      sync.Mutex
	done    map[transport.OpID][]transport.Completion
	inbox   []message
	strange []transport.Completion // neither of an operation nor a message
	pollErr error

	one [1]transport.Completion // drainOne's, kept off its stack: it would escape
}

type message struct {
	rank int
	text string
}

func newNode(ctx context.Context, w *World, rank int) *node {
	n := &node{rank: rank, ctx: ctx, job: w.Job, endpoint: w.Endpoints[rank]}
	n.rester, _ = n.endpoint.(transport.Rester)
	n.done = make(map[transport.OpID][]transport.Completion)
	n.arrived.init()
	return n
}

// start begins to poll.
func (n *node) start() {
	n.ended = make(chan struct{})
	go n.pollUntilStopped()
}

// stop ends polling; it may begin again.
func (n *node) stop() {
	if n.ended == nil {
		return
	}
	n.stopped.Store(true)
	n.bell().ring()
	<-n.ended
	n.stopped.Store(false)
	n.ended = nil
}

func (n *node) bell() *bell { return &n.job.ranks[n.rank].bell }

// pollUntilStopped sleeps on the rank's bell whenever a Poll brings nothing: an
// endpoint that leaves something without ringing is found out.
func (n *node) pollUntilStopped() {
	defer close(n.ended)
	var buf [16]transport.Completion
	err := n.bell().until(n.ctx, func() (bool, error) {
		for !n.stopped.Load() {
			got, err := n.pollOrRest(buf[:])
			if err != nil || got == 0 {
				return false, err
			}
			n.keep(buf[:got])
		}
		return true, nil
	})
	n.mu.Lock()
	n.pollErr = err
	n.mu.Unlock()
	n.arrived.ring()
}

// poll collects what comes until enough returns true, on this goroutine.
func (n *node) poll(enough func() bool) error {
	var buf [16]transport.Completion
	return n.bell().until(n.ctx, func() (bool, error) {
		for !enough() {
			got, err := n.pollOrRest(buf[:])
			if err != nil || got == 0 {
				return false, err
			}
			n.keep(buf[:got])
		}
		return true, nil
	})
}

// pollOrRest polls, and when nothing has come lets the endpoint know that its
// rank is about to sleep.
func (n *node) pollOrRest(done []transport.Completion) (int, error) {
	got, err := n.endpoint.Poll(done)
	if got == 0 && n.rester != nil {
		n.rester.Rest()
	}
	return got, err
}

func (n *node) keep(done []transport.Completion) {
	n.mu.Lock()
	for _, c := range done {
		switch {
		case c.Message != nil:
			n.inbox = append(n.inbox, message{c.Rank, string(c.Message)})
		case c.Op != 0:
			n.done[c.Op] = append(n.done[c.Op], c)
		default:
			n.strange = append(n.strange, c)
		}
	}
	n.mu.Unlock()
	n.arrived.ring()
}

func (n *node) newOp() transport.OpID { return transport.OpID(n.nextOp.Add(1)) }

// await returns the completion of op.
func (n *node) await(op transport.OpID) (transport.Completion, error) {
	var found transport.Completion
	err := n.arrived.until(n.ctx, func() (bool, error) {
		n.mu.Lock()
		defer n.mu.Unlock()
		if len(n.done[op]) == 0 {
			return false, n.pollErr
		}
		found = n.done[op][0]
		return true, nil
	})
	if err != nil {
		return found, fmt.Errorf("rank %d: waiting for the completion of operation %d: %w", n.rank, op, err)
	}
	return found, nil
}

// receive returns the next message, from whatever rank.
func (n *node) receive() (message, error) {
	var found message
	err := n.arrived.until(n.ctx, func() (bool, error) {
		n.mu.Lock()
		defer n.mu.Unlock()
		if len(n.inbox) == 0 {
			return false, n.pollErr
		}
		found, n.inbox = n.inbox[0], n.inbox[1:]
		return true, nil
	})
	if err != nil {
		return found, fmt.Errorf("rank %d: waiting for a message: %w", n.rank, err)
	}
	return found, nil
}

func (n *node) received() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.inbox)
}

// completed returns how many completions have come, and that none came twice.
func (n *node) completed() (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for op, all := range n.done {
		if len(all) != 1 {
			return 0, fmt.Errorf("rank %d: operation %d completed %d times", n.rank, op, len(all))
		}
	}
	return len(n.done), nil
}
