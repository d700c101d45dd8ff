package messages

import (
	"context"

	"github.com/golaunch/golaunch/runtime/matching"
	"github.com/golaunch/golaunch/runtime/rendezvous"
)

// An arrival is a message that has come and was not received yet: data of a short
// one, or the announcement of a long one.
type arrival struct {
	from      int // rank
	source    int // member
	tag       int
	data      []byte
	announced bool
	ready     rendezvous.ReadyPacket

	begun    *slot  // what its beginning is Put into; nil: nothing, or it was taken
	bytes    int    // of the beginning
	redirect []byte // where it goes instead; nil: it stays in the slot
}

// whole reports whether the beginning is all of the message.
func (a *arrival) whole() bool { return int64(a.bytes) == a.ready.Length }

// IRecv begins a Recv. data must not be touched before the request has ended.
func (b *Box) IRecv(source, tag int, data []byte) (*Request, error) {
	if err := b.check(false, source, tag); err != nil {
		return nil, b.m.refuse(b, false, source, tag, data, err)
	}
	r := new(Request)
	b.prepare(r, false, source, tag, data)
	b.m.mu.Lock()
	b.m.match(r)
	b.m.mu.Unlock()
	return r, nil
}

func (r *Request) pattern() matching.Envelope {
	return matching.Envelope{Source: int32(r.peer), Tag: int32(r.tag)}
}

// match takes the message that waits for r, or posts r. Called with mu held.
func (m *Messages) match(r *Request) {
	if m.closed != nil || r.box.ended.Load() {
		r.end(Status{}, errEnded)
	} else if !m.found(r) {
		m.post(r)
	}
}

// post lets r wait for a message: there is none for it. Called with mu held.
func (m *Messages) post(r *Request) { r.ticket = r.box.matcher.Post(r.pattern(), r) }

// found looks for a message for r that has come. Called with mu held.
func (m *Messages) found(r *Request) bool {
	a, _, ok := r.box.matcher.Take(r.pattern())
	switch {
	case !ok:
	case a.announced:
		m.fetch(r, a)
	default:
		m.deliver(r, a.source, a.tag, a.data)
		m.copies.give(a)
	}
	return ok
}

// deliver ends r with a short message. Called with mu held.
func (m *Messages) deliver(r *Request, source, tag int, message []byte) {
	n := copy(r.data, message)
	s := Status{Source: source, Tag: tag, Bytes: int64(n)}
	if n < len(message) {
		r.end(s, &TruncatedError{Source: source, Tag: tag, Length: int64(len(message)), Room: len(r.data)})
		return
	}
	r.end(s, nil)
}

// fetch has a long message fetched, by r's goroutine if it is there. Called with
// mu held.
func (m *Messages) fetch(r *Request, a *arrival) {
	r.incoming, r.ticket = a, 0
	m.requests.add(r)
	m.assign(r)
}

// assign has somebody do what is to do for r. Called with mu held.
func (m *Messages) assign(r *Request) {
	r.todo.Store(true)
	if r.attended {
		m.seats.wake(r)
		return
	}
	if m.closed != nil {
		return // Close attends to it
	}
	var ctx context.Context
	ctx, r.stop = context.WithCancelCause(context.Background())
	r.attended = true
	stop := r.stop
	m.workers.Go(func() {
		m.finish(ctx, r)
		stop(nil)
	})
}

// copies are the arrivals that are not in use, with their memory.
type copies struct{ free []*arrival }

// mostCopies is how many unused arrivals are kept.
const mostCopies = 1024

func (c *copies) take() *arrival {
	last := len(c.free) - 1
	if last < 0 {
		return new(arrival)
	}
	a := c.free[last]
	c.free = c.free[:last]
	return a
}

// give takes back an arrival of which nobody wants anything any more.
func (c *copies) give(a *arrival) {
	if a.begun != nil {
		a.begun.leave()
	}
	if len(c.free) < mostCopies {
		*a = arrival{data: a.data[:0]}
		c.free = append(c.free, a)
	}
}
