package shm

import "sync/atomic"

// A gate counts the calls under way, so that close can wait for them: memory may
// be unmapped once an endpoint is closed.
type gate struct {
	calls   atomic.Int64 // plus gateClosed once closed
	drained chan struct{}
}

const gateClosed = 1 << 62

func (g *gate) init() { g.drained = make(chan struct{}, 1) }

// enter begins a call. false: the gate is closed.
func (g *gate) enter() bool {
	if g.calls.Add(1) < gateClosed {
		return true
	}
	g.leave()
	return false
}

// leave ends a call.
func (g *gate) leave() {
	if g.calls.Add(-1) == gateClosed {
		g.signal()
	}
}

func (g *gate) closed() bool { return g.calls.Load() >= gateClosed }

// signal leaves one token, however many calls are the last one.
func (g *gate) signal() {
	select {
	case g.drained <- struct{}{}:
	default:
	}
}

// close shuts the gate; drain then waits for the calls under way. Each once.
func (g *gate) close() {
	if g.calls.Add(gateClosed) == gateClosed {
		g.signal()
	}
}

func (g *gate) drain() { <-g.drained }
