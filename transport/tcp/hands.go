package tcp

import (
	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/tcp/wire"
)

// hands are how Poll hands out a Message from where it was read to, without putting it
// into an inbox first: it is the last thing that has come, and nothing waits before
// it. Its credit is free at once, as it takes no room.
type hands struct {
	done []transport.Completion // Poll's
	n    int                    // of them are used
	full int                    // bytes of scratch that Messages of this Poll lie in
}

// lendHands has the next read of p hand out, if there is room for what it brings.
// Floods go to the inbox: many more messages than Poll returns at once. Called with
// rx.mu held.
func (p *peer) lendHands(h *hands) {
	if !p.rx.flood && h.full <= scratchBytes-2*leastBytes {
		p.rx.hands = h
	}
}

// returnHands ends that. What was handed out was read at once, into leastBytes.
func (p *peer) returnHands(h *hands) {
	if p.rx.handed {
		h.full += leastBytes
	}
	p.rx.hands, p.rx.handed = nil, false
}

// Whole is the wire.Sink: a Message has come at once.
func (p *peer) Whole(h *wire.Header, payload []byte) (taken bool, err error) {
	r := &p.rx
	to := r.hands
	if to == nil || to.n == len(to.done) || p.e.arrivals.queued.Load() > 0 {
		return false, nil
	}
	if err := p.hear(h); err != nil {
		return false, err
	}
	r.refusal, r.streaming, r.handed = 0, false, true
	to.done[to.n] = transport.Completion{Rank: p.rank, Message: payload}
	to.n++
	cost := wire.MessageCost(len(payload))
	p.in.used += uint32(cost)
	p.in.give(cost)
	r.poke = r.poke || p.tx.creditDue(p)
	p.served(h)
	return true, nil
}
