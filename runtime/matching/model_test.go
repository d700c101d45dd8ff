package matching

import (
	"fmt"
	"slices"
)

// A model is the rules as two lists: what a reader can see to be right.
type model struct {
	receives, messages []entry
}

type entry struct {
	e  Envelope
	id int
}

func matches(pattern, message Envelope) bool {
	return pattern.Comm == message.Comm &&
		(pattern.Source == AnySource || pattern.Source == message.Source) &&
		(pattern.Tag == AnyTag || pattern.Tag == message.Tag)
}

// arrive returns the receive that gets the message, 0 when it is kept.
func (m *model) arrive(e Envelope, id int) int {
	i := slices.IndexFunc(m.receives, func(r entry) bool { return matches(r.e, e) })
	if i < 0 {
		m.messages = append(m.messages, entry{e, id})
		return 0
	}
	got := m.receives[i].id
	m.receives = slices.Delete(m.receives, i, i+1)
	return got
}

// receive returns the message that the receive gets, 0 when it is posted.
func (m *model) receive(pattern Envelope, id int) int {
	i := slices.IndexFunc(m.messages, func(msg entry) bool { return matches(pattern, msg.e) })
	if i < 0 {
		m.receives = append(m.receives, entry{pattern, id})
		return 0
	}
	got := m.messages[i].id
	m.messages = slices.Delete(m.messages, i, i+1)
	return got
}

func remove(list *[]entry, id int) bool {
	before := len(*list)
	*list = slices.DeleteFunc(*list, func(e entry) bool { return e.id == id })
	return len(*list) < before
}

// A pair takes the same steps with the Matcher and the model.
type pair struct {
	real  *Matcher[int, int]
	model model
	steps []step // by id
}

// A step is what became of a receive or a message at first.
type step struct {
	receive bool
	ticket  Ticket // 0 when it was matched at once
}

func newPair() *pair { return &pair{real: New[int, int](), steps: make([]step, 1)} }

func (p *pair) arrive(e Envelope) error {
	id := len(p.steps)
	got, ok := p.real.Arrive(e)
	var t Ticket
	if !ok {
		t = p.real.Keep(e, id)
	}
	p.steps = append(p.steps, step{false, t})
	return p.agree(fmt.Sprintf("message %d %v", id, e), got, p.model.arrive(e, id))
}

func (p *pair) receive(pattern Envelope) error {
	id := len(p.steps)
	seen, _, found := p.real.Probe(pattern)
	if found && !p.looks(seen) {
		return fmt.Errorf("receive %d: Look does not see message %d", id, seen)
	}
	got, e, ok := p.real.Take(pattern)
	if found != ok || seen != got || ok && !matches(pattern, e) {
		return fmt.Errorf("receive %d %v: Probe sees %d, %v; Take gets %d %v, %v", id, pattern, seen, found, got, e, ok)
	}
	var t Ticket
	if !ok {
		t = p.real.Post(pattern, id)
	}
	p.steps = append(p.steps, step{true, t})
	return p.agree(fmt.Sprintf("receive %d %v", id, pattern), got, p.model.receive(pattern, id))
}

func (p *pair) looks(id int) bool {
	got, ok := p.real.Look(p.steps[id].ticket)
	return ok && got == id
}

// cancel takes out the receive or message with the given id, if it is there.
func (p *pair) cancel(id int) error {
	var got int
	var ok, want bool
	if p.steps[id].receive {
		got, ok = p.real.Cancel(p.steps[id].ticket)
		want = remove(&p.model.receives, id)
	} else {
		got, ok = p.real.Withdraw(p.steps[id].ticket)
		want = remove(&p.model.messages, id)
	}
	if ok != want || ok && got != id {
		return fmt.Errorf("cancelling %d: got %d, %v; want %v", id, got, ok, want)
	}
	return p.agree(fmt.Sprintf("after cancelling %d", id), 0, 0)
}

func (p *pair) agree(what string, got, want int) error {
	if got != want {
		return fmt.Errorf("%s: matched with %d, want %d", what, got, want)
	}
	if p.real.Posted() != len(p.model.receives) || p.real.Kept() != len(p.model.messages) {
		return fmt.Errorf("%s: %d receives and %d messages, want %d and %d", what,
			p.real.Posted(), p.real.Kept(), len(p.model.receives), len(p.model.messages))
	}
	return nil
}
