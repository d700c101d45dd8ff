//go:build cgo && linux

package verbs

import (
	"sync"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport"
)

// outstanding is how many operations with an OpID an endpoint accepts before
// their completions are polled.
const outstanding = 4 * transport.MinOutstanding

// arrivals is everything that Poll hands out.
//
// Invariant: queued is the length of both rings. 0 <= done.count <= held <=
// outstanding. messages has room for every buffer of the receive queue, and one
// more for each connection.
type arrivals struct {
	queued atomic.Int64 // without the lock: is a look worth while
	held   atomic.Int64 // places for completions, reserved before an operation begins

	mu       sync.Mutex
	done     ring[transport.Completion]
	messages ring[message]
}

// A message has arrived, or, with over, there are no more to come.
type message struct {
	from   *target
	buffer uint32  // of the receive queue
	copied *copied // nil: mem is of the buffer
	lkey   uint32
	mem    []byte
	over   error
}

// copied is where a message is that left its buffer.
type copied [transport.MaxMessage]byte

func (a *arrivals) init() { a.done.reserve(outstanding) }

// reserve takes the place of a completion. false: none is free.
func (a *arrivals) reserve() bool {
	for {
		held := a.held.Load()
		if held >= outstanding {
			return false
		}
		if a.held.CompareAndSwap(held, held+1) {
			return true
		}
	}
}

func (a *arrivals) cancel() { a.held.Add(-1) }

// complete fills a reserved place.
func (a *arrivals) complete(c transport.Completion) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.done.push(c)
	a.queued.Add(1)
}

func (a *arrivals) receive(m message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.messages.push(m)
	a.queued.Add(1)
}

// expect makes room for n more messages.
func (a *arrivals) expect(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.messages.reserve(n)
}

// take moves what has arrived to done, completions first, and appends the messages
// among it to lent. It returns how much there was, and whether places are free where
// there were none: somebody may wait for one.
func (a *arrivals) take(done []transport.Completion, lent []message) (n int, freed bool, _ []message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for n < len(done) && a.done.count > 0 {
		done[n] = a.done.pop()
		n++
	}
	completions := n
	for n < len(done) && a.messages.count > 0 {
		m := a.messages.pop()
		done[n] = transport.Completion{Rank: m.from.rank, Message: m.mem, Err: m.over}
		if m.over == nil {
			lent = append(lent, m)
		}
		n++
	}
	a.queued.Add(int64(-n))
	held := a.held.Add(int64(-completions))
	return n, held < outstanding && held+int64(completions) >= outstanding, lent
}
