package tcp

import (
	"fmt"

	"github.com/golaunch/golaunch/transport"
)

// tick looks after peers that owe something: one that has shown no sign of life
// for the timeout has failed. A peer whose rank computes still answers; one that is
// stopped, or whose host is gone, does not.
func (e *endpoint) tick() {
	for i := range e.peers {
		if p := e.peers[i].Load(); p != nil && !p.self {
			p.tick()
		}
	}
	e.tell()
}

// ticksToLive is how many ticks in a row, a quarter of the timeout each, may bring
// nothing.
const ticksToLive = 4

func (p *peer) tick() {
	bytes := p.rx.bytes.Load()
	p.tx.mu.Lock()
	waits := p.connected() && p.owes()
	switch {
	case !waits || bytes != p.life.bytes:
		p.life.bytes, p.life.quiet = bytes, 0
	default:
		p.life.quiet++
		p.tx.mustAsk = true
		p.pump()
	}
	over := p.life.quiet > ticksToLive
	p.tx.mu.Unlock()
	if over {
		p.rx.mu.Lock()
		p.fail(fmt.Errorf("no sign of life for %v: %w", p.e.timeout, transport.ErrPeerFailed))
		p.rx.mu.Unlock()
	}
}

// owes tells whether the peer has something to say: an answer, an Ack, or that
// there is credit, for which calls wait. Called with tx.mu held.
func (p *peer) owes() bool {
	s := &p.tx
	return s.promises.count > 0 || s.awaiting() || s.blocked.Load() || p.e.blocked.Load() > 0
}

// A life is when a peer was last heard. Guarded by tx.mu.
type life struct {
	bytes uint64
	quiet int // ticks
}
