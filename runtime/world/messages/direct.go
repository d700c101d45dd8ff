package messages

import (
	"context"

	"github.com/golaunch/golaunch/runtime/waiting"
)

// A Recv whose message comes from a peer that takes turns with it would spend most
// of its time in locks. It takes each of them once: it holds mu and the router's
// turn while it looks for the message, and so the handler that delivers the message
// needs neither, nor anything atomic. If no receive is posted it is not posted
// either; who else might post one has to wait for mu.

// A direct receive looks so many times in a row, and so often: for a few times what
// a message takes to come back.
const (
	looksInARow = 250
	rows        = 4
)

// Recv receives a message into data.
func (b *Box) Recv(ctx context.Context, source, tag int, data []byte) (Status, error) {
	if err := b.check(false, source, tag); err != nil {
		return Status{}, b.m.refuse(b, false, source, tag, data, err)
	}
	m := b.m
	m.mu.Lock()
	r := m.take()
	b.prepare(r, false, source, tag, data)
	r.again, r.attended = true, true
	switch {
	case m.closed != nil || b.ended.Load():
		r.end(Status{}, errEnded)
	case m.found(r):
	case m.cfg.Spins && b.matcher.Posted() == 0 && m.cfg.Router.Hold():
		m.direct(r)
		return m.conclude(ctx, r, true)
	default:
		m.post(r)
	}
	return m.conclude(ctx, r, false)
}

// direct looks for a message, and posts r if none has come. Called with mu and the
// router's turn held.
func (m *Messages) direct(r *Request) {
	m.held = r
	for row := 0; row < rows; row++ {
		m.cfg.Router.Look(looksInARow)
		if r.quick || r.incoming != nil || m.found(r) {
			break
		}
		if row == rows-1 {
			m.post(r)
		}
	}
	m.held = nil
}

// conclude returns what has become of r, or waits for that. Called with mu held, and
// the turn as well if turn is true; it gives both back.
func (m *Messages) conclude(ctx context.Context, r *Request, turn bool) (Status, error) {
	over, s, err := r.over.Load() || r.quick, r.status, r.err
	if over {
		m.recycle(r)
	}
	m.mu.Unlock()
	if turn {
		m.cfg.Router.Release()
	}
	if !over {
		return m.finish(ctx, r)
	}
	waiting.Synchronize()
	return s, err
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

// take returns a request for a Recv. Called with mu held, as is recycle.
func (m *Messages) take() *Request {
	if r := m.idle; r != nil {
		m.idle = nil
		return r
	}
	return m.begin()
}

// recycle keeps a Recv's request for the next one.
func (m *Messages) recycle(r *Request) {
	r.data, r.err, r.status, r.ticket, r.quick = nil, nil, Status{}, 0, false
	if r.over.Load() {
		r.over.Store(false)
	}
	if r.long || m.idle != nil {
		m.release(r)
		return
	}
	m.idle = r
}
