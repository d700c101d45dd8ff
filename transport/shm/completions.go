package shm

import (
	"sync"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport"
)

// outstanding is how many operations with an OpID may have ended without being
// polled.
const outstanding = 4 * transport.MinOutstanding

// completions is the bounded queue of operations that have ended. A call reserves
// its place before it does anything, so that what took effect is always
// reported.
//
// Invariant: 0 <= queued <= held <= outstanding.
type completions struct {
	held    atomic.Int64 // places reserved, queued ones included
	queued  atomic.Int64
	waiting atomic.Int64 // calls that wait for a place

	mu    sync.Mutex
	first int
	queue [outstanding]transport.Completion
}

// reserve takes a place. false: none is free.
func (c *completions) reserve() bool {
	for {
		held := c.held.Load()
		if held >= outstanding {
			return false
		}
		if c.held.CompareAndSwap(held, held+1) {
			return true
		}
	}
}

func (c *completions) cancel() { c.held.Add(-1) }

func (c *completions) full() bool { return c.held.Load() >= outstanding }

// push fills a reserved place.
func (c *completions) push(done transport.Completion) {
	c.mu.Lock()
	c.queue[(c.first+int(c.queued.Load()))%outstanding] = done
	c.queued.Add(1)
	c.mu.Unlock()
}

// take moves the oldest completions to done and returns how many.
func (c *completions) take(done []transport.Completion) int {
	if c.queued.Load() == 0 {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(done), int(c.queued.Load()))
	for i := range n {
		done[i] = c.queue[c.first]
		c.queue[c.first] = transport.Completion{}
		c.first = (c.first + 1) % outstanding
	}
	c.queued.Add(int64(-n))
	c.held.Add(int64(-n))
	return n
}
