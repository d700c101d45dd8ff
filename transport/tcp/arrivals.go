package tcp

import (
	"sync"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport"
)

// outstanding is how many operations with an OpID an endpoint accepts before
// their completions are polled.
const outstanding = 4 * transport.MinOutstanding

// arrivals is everything that Poll hands out: completions, and per peer the
// messages and the news that it is gone.
//
// Invariant: queued is len of done plus the peers in ready; a peer is in ready
// when it has something unread. 0 <= done.count <= held <= outstanding.
type arrivals struct {
	queued atomic.Int64 // without the lock: is a look worth while
	held   atomic.Int64 // places for completions, reserved before an operation begins
	places atomic.Uint64

	mu    sync.Mutex
	done  ring[transport.Completion]
	ready ring[*peer]
	lent  ring[*peer] // whose messages the last Poll delivered
}

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

// announce has Poll look at p. Called with mu held.
func (a *arrivals) announce(p *peer) {
	if !p.in.announced {
		p.in.announced = true
		a.ready.push(p)
		a.queued.Add(1)
	}
}

// take moves what has arrived to done and returns how much: completions first,
// then what peers have, in turn.
func (a *arrivals) take(done []transport.Completion) (n, completions int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for n < len(done) && a.done.count > 0 {
		done[n] = a.done.pop()
		n++
	}
	a.queued.Add(int64(-n))
	a.held.Add(int64(-n))
	completions = n
	for n < len(done) && a.ready.count > 0 {
		n += a.takeFrom(a.ready.pop(), done[n:])
	}
	return n, completions
}

// takeFrom takes all that p has, or as much as fits; then it is p's turn again
// when the others had theirs.
func (a *arrivals) takeFrom(p *peer, done []transport.Completion) (n int) {
	a.queued.Add(-1)
	p.in.announced = false
	for n < len(done) {
		msg, ok := p.in.next()
		if !ok {
			break
		}
		done[n] = transport.Completion{Rank: p.rank, Message: msg}
		n++
	}
	if n > 0 && !p.in.lent {
		p.in.lent = true
		a.lent.push(p)
	}
	if n < len(done) && p.in.over != nil {
		done[n] = transport.Completion{Rank: p.rank, Err: p.in.over}
		p.in.over = nil
		n++
	}
	if !p.in.empty() || p.in.over != nil {
		a.announce(p)
	}
	return n
}

// giveBack frees what the last Poll delivered. It returns one peer after the
// other to which credit was given back; nil: that was all.
func (a *arrivals) giveBack() *peer {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lent.count == 0 {
		return nil
	}
	p := a.lent.pop()
	p.in.lent = false
	p.in.free()
	return p
}
