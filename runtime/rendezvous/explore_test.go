package rendezvous

import (
	"fmt"
	"testing"
)

// A config is the whole state of one message between a sender and a receiver, who
// take atomic steps in any order.
type config struct {
	word             State
	sender, receiver actor
	copied           [maxTotal]int8 // how often each piece was copied
	generation       uint32         // of the word when the message was announced
}

const maxTotal = 3

// An actor is where one side is.
type actor struct {
	phase phase
	piece int8 // being copied
	saw   Outcome
}

type phase int8

const (
	away      phase = iota // receiver: not matched; sender: in no call
	preparing              // receiver: writes beside the word
	calling                // looks at the word
	copying                // has claimed a piece
	over                   // has returned to its program, which uses the buffer
	reusing                // sender: has begun another rendezvous in the word
)

// explorer visits every configuration once.
type explorer struct {
	t       *testing.T
	total   int
	seen    map[config]bool
	results map[Outcome]int
	rules   rules
}

// rules are the steps, so that the test can show that it finds wrong ones.
type rules struct {
	match    func(State, uint32) (State, bool)
	open     func(State) (State, bool)
	claim    func(State, int) (State, int, bool)
	finish   func(State, bool) State
	withdraw func(State, int) State
	abandon  func(State, int) State
	outcome  func(State, int) Outcome
	reusable func(State) bool
}

func right() rules {
	return rules{State.Match, State.Open, State.Claim, State.Finish, State.Withdraw, State.Abandon, State.Outcome, State.Released}
}

// explore returns what is wrong, or nil, and how often each outcome was seen.
func explore(t *testing.T, total int, r rules) (map[Outcome]int, error) {
	e := &explorer{t: t, total: total, seen: map[config]bool{}, results: map[Outcome]int{}, rules: r}
	err := e.visit(config{word: Fresh(7), generation: 7})
	return e.results, err
}

func (e *explorer) visit(c config) error {
	if e.seen[c] {
		return nil
	}
	e.seen[c] = true
	if err := e.check(c); err != nil {
		return err
	}
	next := append(e.senderSteps(c), e.receiverSteps(c)...)
	if len(next) == 0 {
		if c.sender.phase != reusing {
			return fmt.Errorf("stuck: %+v", c)
		}
		e.results[c.sender.saw]++
	}
	for _, n := range next {
		if err := e.visit(n); err != nil {
			return err
		}
	}
	return nil
}

// check is what must hold at every moment.
func (e *explorer) check(c config) error {
	for piece, n := range c.copied[:e.total] {
		if n > 1 {
			return fmt.Errorf("piece %d was copied %d times: %+v", piece, n, c)
		}
		if c.receiver.phase == over && c.receiver.saw == Complete && n != 1 {
			return fmt.Errorf("complete without piece %d: %+v", piece, c)
		}
	}
	if p := c.receiver.phase; p >= preparing && p <= copying && c.word.Generation() != c.generation {
		return fmt.Errorf("the receiver uses a word that is another one's: %+v", c)
	}
	gone, busy := c.sender.phase >= over || c.receiver.phase >= over, c.sender.phase == copying || c.receiver.phase == copying
	if gone && busy {
		return fmt.Errorf("a buffer is used after its call returned: %+v", c)
	}
	if c.sender.phase >= over && c.receiver.phase == over && c.sender.saw != c.receiver.saw {
		return fmt.Errorf("the sides disagree: %+v", c)
	}
	return nil
}

// senderSteps: come into a call, which it leaves by the outcome only; help; give
// up at any time; afterwards use the word again.
func (e *explorer) senderSteps(c config) []config {
	var next []config
	switch c.sender.phase {
	case away:
		c.sender.phase = calling
		return []config{c}
	case calling, copying:
		next = e.callSteps(c, func(c *config) *actor { return &c.sender }, e.rules.withdraw)
	case over:
		if e.rules.reusable(c.word) {
			c.sender.phase, c.word = reusing, Fresh(c.generation+1)
			next = append(next, c)
		}
	}
	return next
}

// receiverSteps: match, then the same.
func (e *explorer) receiverSteps(c config) []config {
	switch c.receiver.phase {
	case away:
		word, ok := e.rules.match(c.word, c.generation)
		c.word = word
		c.receiver.phase = preparing
		if !ok { // there is no message
			c.receiver.phase, c.receiver.saw = over, Withdrawn
		}
		return []config{c}
	case preparing:
		word, ok := e.rules.open(c.word)
		c.word = word
		c.receiver.phase = calling
		if !ok {
			c.receiver.phase, c.receiver.saw = over, Withdrawn
		}
		return []config{c}
	case over:
		if c.word.Generation() == c.generation && c.word&matched != 0 && c.word&released == 0 {
			c.word = c.word.Release()
			return []config{c}
		}
		return nil
	}
	return e.callSteps(c, func(c *config) *actor { return &c.receiver }, e.rules.abandon)
}

// callSteps are those of a side that is in a call: it may look at the word for any
// purpose.
func (e *explorer) callSteps(c config, who func(*config) *actor, giveUp func(State, int) State) []config {
	var next []config
	if who(&c).phase == copying {
		for _, copied := range []bool{true, false} {
			n := c
			n.word = e.rules.finish(n.word, copied)
			if copied {
				n.copied[who(&n).piece]++
			}
			who(&n).phase, who(&n).piece = calling, 0
			next = append(next, n)
		}
		return next
	}
	if outcome := e.rules.outcome(c.word, e.total); outcome != Pending {
		n := c
		who(&n).phase, who(&n).saw = over, outcome
		next = append(next, n)
	}
	if word, piece, ok := e.rules.claim(c.word, e.total); ok {
		n := c
		n.word = word
		who(&n).phase, who(&n).piece = copying, int8(piece)
		next = append(next, n)
	}
	n := c
	n.word = giveUp(n.word, e.total)
	if n.word != c.word {
		next = append(next, n)
	}
	return next
}

// TestEveryInterleaving has each side give up, or fail to copy, at any moment.
func TestEveryInterleaving(t *testing.T) {
	for total := range maxTotal + 1 {
		results, err := explore(t, total, right())
		if err != nil {
			t.Errorf("%d pieces: %v", total, err)
		}
		want := []Outcome{Complete, Withdrawn}
		if total > 0 {
			want = append(want, Abandoned, Broken)
		}
		for _, outcome := range want {
			if results[outcome] == 0 {
				t.Errorf("%d pieces: outcome %d was never seen", total, outcome)
			}
		}
	}
}

// TestWrongRulesAreFound breaks one rule at a time.
func TestWrongRulesAreFound(t *testing.T) {
	for name, break_ := range map[string]func(*rules){
		"opening what was withdrawn": func(r *rules) {
			r.open = func(s State) (State, bool) { return s | opened, true }
		},
		"matching what is another one's": func(r *rules) {
			r.match = func(s State, g uint32) (State, bool) { return s | matched, s&withdrawn == 0 }
		},
		"using the word again while it is matched": func(r *rules) {
			r.reusable = func(s State) bool { return !s.Opened() || s.Released() }
		},
		"claiming after the end": func(r *rules) {
			r.claim = func(s State, total int) (State, int, bool) {
				return s + 1, s.next(), s.Opened() && s.next() < total
			}
		},
		"not waiting for the piece under way": func(r *rules) {
			r.outcome = func(s State, total int) Outcome {
				if s&withdrawn != 0 {
					return Withdrawn
				}
				return s.Outcome(total)
			}
		},
		"a failed copy counts": func(r *rules) {
			r.finish = func(s State, copied bool) State { return s.Finish(true) }
		},
		"withdrawing what is over": func(r *rules) {
			r.withdraw = func(s State, total int) State { return s | withdrawn }
			r.outcome = func(s State, total int) Outcome {
				if s&withdrawn != 0 && s.done() == s.next() {
					return Withdrawn
				}
				return s.Outcome(total)
			}
		},
		"using the word again too early": func(r *rules) {
			r.reusable = func(State) bool { return true }
		},
	} {
		r := right()
		break_(&r)
		found := false
		for total := range maxTotal {
			_, err := explore(t, total, r)
			found = found || err != nil
		}
		if !found {
			t.Errorf("%s: not found", name)
		}
	}
}

func TestFieldsDoNotTouch(t *testing.T) {
	s, ok := Fresh(Generations - 1).Match(Generations - 1)
	s, open := s.Open()
	if !ok || !open {
		t.Fatal("a fresh word could not be opened")
	}
	for piece := range MaxPieces {
		next, got, ok := s.Claim(MaxPieces)
		if !ok || got != piece {
			t.Fatalf("piece %d: got %d, %v", piece, got, ok)
		}
		s = next.Finish(true)
	}
	if _, _, ok := s.Claim(MaxPieces); ok || s.Outcome(MaxPieces) != Complete || s.Generation() != Generations-1 {
		t.Errorf("after the last piece: %#x", uint64(s))
	}
	if s = s.Release(); !s.Released() || s.Outcome(MaxPieces) != Complete {
		t.Errorf("released: %#x", uint64(s))
	}
}
