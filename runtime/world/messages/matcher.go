package messages

import (
	"sync/atomic"

	"github.com/golaunch/golaunch/runtime/matching"
)

// A matcher is a box's, with how much is in it for those who do not hold
// Messages.mu, which guards the rest.
type matcher struct {
	*matching.Matcher[*Request, *arrival]
	pending atomic.Int32 // receives and messages
}

func (m *matcher) init() { m.Matcher = matching.New[*Request, *arrival]() }

func (m *matcher) Arrive(e matching.Envelope) (*Request, bool) {
	r, ok := m.Matcher.Arrive(e)
	m.out(ok)
	return r, ok
}

func (m *matcher) Keep(e matching.Envelope, a *arrival) matching.Ticket {
	m.pending.Add(1)
	return m.Matcher.Keep(e, a)
}

func (m *matcher) Take(pattern matching.Envelope) (*arrival, matching.Envelope, bool) {
	a, e, ok := m.Matcher.Take(pattern)
	m.out(ok)
	return a, e, ok
}

func (m *matcher) Post(pattern matching.Envelope, r *Request) matching.Ticket {
	m.pending.Add(1)
	return m.Matcher.Post(pattern, r)
}

func (m *matcher) Cancel(t matching.Ticket) (*Request, bool) {
	r, ok := m.Matcher.Cancel(t)
	m.out(ok)
	return r, ok
}

func (m *matcher) Withdraw(t matching.Ticket) (*arrival, bool) {
	a, ok := m.Matcher.Withdraw(t)
	m.out(ok)
	return a, ok
}

func (m *matcher) out(ok bool) {
	if ok {
		m.pending.Add(-1)
	}
}
