package messages

import (
	"context"

	"github.com/golaunch/golaunch/runtime/waiting"
)

// A Recv whose message comes from a peer that takes turns with it would spend most
// of its time in locks. It takes each of them once: it holds mu and the router's
// turn while it looks for the message, and so the handler that delivers the message
// needs neither, nor anything atomic.

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
	m.post(r)
	if r.ticket != 0 && !r.over.Load() && m.cfg.Spins && m.cfg.Router.Hold() {
		return m.direct(ctx, r)
	}
	if r.over.Load() {
		s, err := r.status, r.err
		m.recycle(r)
		m.mu.Unlock()
		waiting.Synchronize()
		return s, err
	}
	m.mu.Unlock()
	return m.finish(ctx, r)
}

// direct looks for the message of a posted receive. Called with mu and the router's
// turn held, which it gives back.
func (m *Messages) direct(ctx context.Context, r *Request) (s Status, err error) {
	m.held = r
	for row := 0; row < rows && m.held == r && r.ticket != 0; row++ {
		m.cfg.Router.Look(looksInARow)
	}
	over := m.held != r
	m.held = nil
	if over {
		s, err = r.status, r.err
		m.recycle(r)
	}
	m.mu.Unlock()
	m.cfg.Router.Release()
	if !over {
		return m.finish(ctx, r)
	}
	waiting.Synchronize()
	return s, err
}

// arrivedHeld ends the receive that the handler's own goroutine looks for.
func (m *Messages) arrivedHeld(r *Request, source, tag int, message []byte) {
	n := copy(r.data, message)
	r.status = Status{Source: source, Tag: tag, Bytes: int64(n)}
	if n < len(message) {
		r.err = r.errorf(&TruncatedError{Source: source, Tag: tag, Length: int64(len(message)), Room: len(r.data)})
	}
	m.held = nil
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
	r.data, r.err, r.status, r.ticket = nil, nil, Status{}, 0
	if r.over.Load() {
		r.over.Store(false)
	}
	if r.long || m.idle != nil {
		m.release(r)
		return
	}
	m.idle = r
}
