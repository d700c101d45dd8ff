package matching

import "iter"

// A Matcher matches messages, with which an M is kept each, to receives, with
// which an R is kept each.
//
// A message that arrives is offered with Arrive and, if no receive wants it, kept
// with Keep. A receive looks with Take and, if there is no message for it, is kept
// with Post. Nothing else may be asked of the Matcher between the two.
//
// Invariant: lone is none, or the only receive, which is in no queue then: most
// programs post a receive and wait for it.
type Matcher[R, M any] struct {
	receives bag[R]
	lone     int32
	messages bag[M]
	posted   [kinds]int // receives by kind of pattern
	kept     int        // messages
	order    uint64
}

// New returns a Matcher with nothing in it.
func New[R, M any]() *Matcher[R, M] {
	return &Matcher[R, M]{receives: newBag[R](1), lone: none, messages: newBag[M](kinds)}
}

// Arrive takes out the receive for a message that has arrived: the one posted
// first among those that match. false: there is none, Keep the message.
func (m *Matcher[R, M]) Arrive(e Envelope) (r R, ok bool) {
	if m.lone != none {
		if !m.receives.nodes[m.lone].envelope.matches(e) {
			return r, false
		}
		return m.removeReceive(m.lone), true
	}
	best := int32(none)
	for k, n := range m.posted {
		if n == 0 {
			continue
		}
		head := m.receives.first(e.pattern(kind(k)))
		if head != none && (best == none || m.receives.nodes[head].order < m.receives.nodes[best].order) {
			best = head
		}
	}
	if best == none {
		return r, false
	}
	return m.removeReceive(best), true
}

// Keep keeps a message that no receive wanted.
//
// Precondition: Arrive has just returned false for e.
func (m *Matcher[R, M]) Keep(e Envelope, msg M) Ticket {
	m.order++
	n := m.messages.add(e, m.order, msg)
	for k := range kinds {
		m.messages.link(n, k, e.pattern(kind(k)))
	}
	m.kept++
	return m.messages.ticket(n)
}

// Take takes out the message for a receive: the one that arrived first among those
// that the pattern matches. false: there is none, Post the receive.
func (m *Matcher[R, M]) Take(pattern Envelope) (msg M, e Envelope, ok bool) {
	if m.kept == 0 {
		return msg, e, false
	}
	n := m.messages.first(pattern)
	if n == none {
		return msg, e, false
	}
	msg, e = m.removeMessage(n)
	return msg, e, true
}

// Probe is Take without taking the message out.
func (m *Matcher[R, M]) Probe(pattern Envelope) (msg M, e Envelope, ok bool) {
	n := m.messages.first(pattern)
	if n == none {
		return msg, e, false
	}
	return m.messages.nodes[n].value, m.messages.nodes[n].envelope, true
}

// Post keeps a receive for which there was no message.
//
// Precondition: Take has just returned false for pattern.
func (m *Matcher[R, M]) Post(pattern Envelope, r R) Ticket {
	m.order++
	n := m.receives.add(pattern, m.order, r)
	if m.Posted() == 0 {
		m.lone = n
	} else {
		m.queue(m.lone)
		m.lone = none
		m.queue(n)
	}
	m.posted[pattern.kind()]++
	return m.receives.ticket(n)
}

// queue puts a receive at the end of its queue.
func (m *Matcher[R, M]) queue(n int32) {
	if n != none {
		m.receives.link(n, 0, m.receives.nodes[n].envelope)
	}
}

// Cancel takes out a posted receive. false: it was matched, or cancelled, before.
func (m *Matcher[R, M]) Cancel(t Ticket) (r R, ok bool) {
	n := m.receives.named(t)
	if n == none {
		return r, false
	}
	return m.removeReceive(n), true
}

// Withdraw takes out a kept message. false: it was taken before.
func (m *Matcher[R, M]) Withdraw(t Ticket) (msg M, ok bool) {
	n := m.messages.named(t)
	if n == none {
		return msg, false
	}
	msg, _ = m.removeMessage(n)
	return msg, true
}

// Look returns a kept message without taking it out. false: it was taken before.
func (m *Matcher[R, M]) Look(t Ticket) (msg M, ok bool) {
	n := m.messages.named(t)
	if n == none {
		return msg, false
	}
	return m.messages.nodes[n].value, true
}

// Posted is how many receives are posted.
func (m *Matcher[R, M]) Posted() int {
	sum := 0
	for _, n := range m.posted {
		sum += n
	}
	return sum
}

// Kept is how many unexpected messages there are.
func (m *Matcher[R, M]) Kept() int { return m.kept }

// Receives goes through the patterns and tickets of all posted receives, in no
// order. The receive that it stands at may be cancelled meanwhile.
func (m *Matcher[R, M]) Receives() iter.Seq2[Envelope, Ticket] {
	return func(yield func(Envelope, Ticket) bool) { m.receives.each(yield) }
}

// Messages goes through the envelopes and tickets of all unexpected messages, in
// no order. The message that it stands at may be withdrawn meanwhile.
func (m *Matcher[R, M]) Messages() iter.Seq2[Envelope, Ticket] {
	return func(yield func(Envelope, Ticket) bool) { m.messages.each(yield) }
}

func (b *bag[T]) each(yield func(Envelope, Ticket) bool) {
	for n := range b.nodes {
		if b.nodes[n].order != 0 && !yield(b.nodes[n].envelope, b.ticket(int32(n))) {
			return
		}
	}
}

func (m *Matcher[R, M]) removeReceive(n int32) R {
	pattern := m.receives.nodes[n].envelope
	if n == m.lone {
		m.lone = none
	} else {
		m.receives.unlink(n, 0, pattern)
	}
	m.posted[pattern.kind()]--
	r, _ := m.receives.drop(n)
	return r
}

func (m *Matcher[R, M]) removeMessage(n int32) (M, Envelope) {
	e := m.messages.nodes[n].envelope
	for k := range kinds {
		m.messages.unlink(n, k, e.pattern(kind(k)))
	}
	m.kept--
	return m.messages.drop(n)
}
