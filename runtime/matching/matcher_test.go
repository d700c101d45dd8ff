package matching

import (
	"math/rand/v2"
	"testing"
)

// patterns are all patterns and messages all envelopes over two sources and two
// tags of one communicator.
func patterns() (patterns, messages []Envelope) {
	for source := int32(AnySource); source < 2; source++ {
		for tag := int32(AnyTag); tag < 2; tag++ {
			e := Envelope{Source: source, Tag: tag}
			patterns = append(patterns, e)
			if e.kind() == 0 {
				messages = append(messages, e)
			}
		}
	}
	return patterns, messages
}

// A move is one step of a program: a receive, a message, or the cancelling of the
// id-th of them.
type move struct {
	receive, message *Envelope
	cancel           int
}

func (p *pair) play(m move) error {
	switch {
	case m.receive != nil:
		return p.receive(*m.receive)
	case m.message != nil:
		return p.arrive(*m.message)
	case m.cancel < len(p.steps):
		return p.cancel(m.cancel)
	}
	return nil
}

func moves() []move {
	var all []move
	receives, messages := patterns()
	for i := range receives {
		all = append(all, move{receive: &receives[i]})
	}
	for i := range messages {
		all = append(all, move{message: &messages[i]})
	}
	return append(all, move{cancel: 1}, move{cancel: 2})
}

// TestEveryShortProgram plays all programs of five steps.
func TestEveryShortProgram(t *testing.T) {
	const steps = 5
	alphabet := moves()
	var program [steps]int
	for {
		p := newPair()
		for _, letter := range program {
			if err := p.play(alphabet[letter]); err != nil {
				t.Fatalf("program %v: %v", program, err)
			}
		}
		at := 0
		for ; at < steps; at++ {
			if program[at]++; program[at] < len(alphabet) {
				break
			}
			program[at] = 0
		}
		if at == steps {
			return
		}
	}
}

// TestRandomPrograms has long queues, several communicators and many tags.
func TestRandomPrograms(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 7))
		p := newPair()
		tags := 1 + random.IntN(40)
		envelope := func(wild int) Envelope {
			e := Envelope{Comm: random.Uint32N(3), Source: random.Int32N(5), Tag: random.Int32N(int32(tags))}
			if random.IntN(10) < wild {
				e.Source = AnySource
			}
			if random.IntN(10) < wild {
				e.Tag = AnyTag
			}
			return e
		}
		bias, wild := 2+random.IntN(7), random.IntN(5)
		for range 1500 {
			var err error
			switch n := random.IntN(11); {
			case n == 10:
				err = p.cancel(random.IntN(len(p.steps)))
			case n < bias:
				err = p.receive(envelope(wild))
			default:
				err = p.arrive(envelope(0))
			}
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		p.empty(t)
	}
}

// empty goes through what is left, which must be what the model has, and takes it
// out.
func (p *pair) empty(t *testing.T) {
	t.Helper()
	for e, ticket := range p.real.Receives() {
		if id, ok := p.real.Cancel(ticket); !ok || !remove(&p.model.receives, id) {
			t.Errorf("receive %d %v, %v", id, e, ok)
		}
	}
	for e, ticket := range p.real.Messages() {
		if id, ok := p.real.Withdraw(ticket); !ok || !remove(&p.model.messages, id) {
			t.Errorf("message %d %v, %v", id, e, ok)
		}
	}
	if err := p.agree("emptied", len(p.model.receives)+len(p.model.messages), 0); err != nil {
		t.Error(err)
	}
}

func TestOldTicketsNameNothing(t *testing.T) {
	m := New[int, int]()
	first := m.Post(Envelope{}, 1)
	if r, ok := m.Arrive(Envelope{}); !ok || r != 1 {
		t.Fatal(r, ok)
	}
	m.Post(Envelope{}, 2)
	if _, ok := m.Cancel(first); ok {
		t.Error("the ticket of a matched receive cancelled another one")
	}
	for _, wrong := range []Ticket{0, 7, 1<<63 | 1, first + 1<<33} {
		if _, ok := m.Cancel(wrong); ok {
			t.Errorf("ticket %#x cancelled something", uint64(wrong))
		}
	}
}

// TestSteadyStateAllocatesNothing uses a new tag all the time, so that queues come
// and go.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	m := New[*int, *int]()
	value, tag := new(int), int32(0)
	round := func() {
		for i := range int32(50) {
			m.Post(Envelope{Source: i % 7, Tag: tag + i}, value)
		}
		for i := range int32(50) {
			if _, ok := m.Arrive(Envelope{Source: i % 7, Tag: tag + i}); !ok {
				t.Fatal("no match")
			}
			m.Arrive(Envelope{Source: i, Tag: tag})
			m.Keep(Envelope{Source: i, Tag: tag}, value)
		}
		for range 50 {
			m.Take(Envelope{Source: AnySource, Tag: tag})
		}
		tag += 50
	}
	round()
	if n := testing.AllocsPerRun(200, round); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
	if m.Posted() != 0 || m.Kept() != 0 {
		t.Errorf("%d receives and %d messages are left", m.Posted(), m.Kept())
	}
}
