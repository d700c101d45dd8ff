package messages

import (
	"context"

	"github.com/golaunch/golaunch/runtime/relax"
	"github.com/golaunch/golaunch/runtime/waiting"
)

// A Recv whose message comes from a peer that takes turns with it would spend most
// of its time in locks. Where its box holds nothing, neither receives nor messages, it
// takes only the router's turn while it looks for the message, and the handler that
// delivers the message, which then runs in its goroutine, takes no other one. It is
// not posted either: a receive that is posted meanwhile was posted at the same time,
// and which of the two gets a message that both match is open.

// A direct receive looks so many times in a row, and so often: for a few times what
// a message takes to come back.
const (
	looksInARow = 250
	rows        = 4
)

// pausesAfterSend is how long a receiver that has just sent, and so waits for an
// answer, does not look. Its first look takes the line away from the peer, which has
// written there last and then has to fetch it back. No answer comes that fast: 8
// bytes to and fro take 7 % less time with one pause or two where the cores are near
// each other, and with two 20 % less where they are far apart; with four more again.
const pausesAfterSend = 2

// Recv receives a message into data.
func (b *Box) Recv(ctx context.Context, source, tag int, data []byte) (Status, error) {
	if err := b.check(false, source, tag); err != nil {
		return Status{}, b.m.refuse(b, false, source, tag, data, err)
	}
	m := b.m
	if m.cfg.Spins && b.matcher.pending.Load() == 0 && m.cfg.Router.Hold() {
		return m.direct(ctx, b, source, tag, data)
	}
	r := m.begin()
	b.prepare(r, false, source, tag, data)
	r.attended = true
	m.mu.Lock()
	m.match(r)
	m.mu.Unlock()
	return m.finish(ctx, r)
}

// direct is Recv with the router's turn held, which it gives back.
func (m *Messages) direct(ctx context.Context, b *Box, source, tag int, data []byte) (Status, error) {
	r := m.take()
	b.prepare(r, false, source, tag, data)
	r.attended = true
	if b.matcher.pending.Load() == 0 { // nobody keeps a message who has not the turn
		m.held = r
		if m.sent.Load() != 0 {
			relax.Store(&m.sent, 0)
			for range pausesAfterSend {
				relax.CPU()
			}
		}
		for row := 0; row < rows && !r.quick && r.incoming == nil; row++ {
			m.cfg.Router.Look(looksInARow)
		}
		m.held = nil
	}
	if r.quick {
		s, err := r.status, r.err
		m.recycle(r)
		m.cfg.Router.Release()
		waiting.Synchronize()
		return s, err
	}
	if r.incoming == nil {
		m.mu.Lock()
		m.match(r)
		m.mu.Unlock()
	}
	m.cfg.Router.Release()
	return m.finish(ctx, r)
}

// fits reports whether a message is for the receive that is held. It is if it matches
// and is the first one that does: none that matches had come before the receive was
// held. No other receive is posted in its box, so it need not wait for others.
func (r *Request) fits(context uint64, from, tag int) bool {
	return !r.quick && r.incoming == nil && context == r.box.context && (r.tag == tag || r.tag == AnyTag) &&
		(r.world == from || r.peer == AnySource)
}

// arrivedHeld ends the receive that the handler's own goroutine looks for.
func (m *Messages) arrivedHeld(r *Request, from, tag int, message []byte) {
	source, ok := r.box.member(from)
	if !ok {
		return
	}
	n := copy(r.data, message)
	r.status = Status{Source: source, Tag: tag, Bytes: int64(n)}
	if n < len(message) {
		r.err = r.errorf(&TruncatedError{Source: source, Tag: tag, Length: int64(len(message)), Room: len(r.data)})
	}
	r.quick = true // and still held: more may come in the same poll
}

// take returns a request for a direct receive. Called with the turn held, as is
// recycle.
func (m *Messages) take() *Request {
	if r := m.idle; r != nil {
		m.idle = nil
		return r
	}
	return m.begin()
}

// recycle keeps the request of a direct receive that ended at once for the next one.
func (m *Messages) recycle(r *Request) {
	r.data, r.err, r.status, r.quick = nil, nil, Status{}, false
	m.idle = r
}
