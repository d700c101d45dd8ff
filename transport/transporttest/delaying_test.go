package transporttest_test

import (
	"fmt"
	"testing"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/transporttest"
)

// TestDelayingReorders: what it is for. Messages keep their order,
// some completion overtakes another, and the same seed does the same again.
func TestDelayingReorders(t *testing.T) {
	first := delayedOrder(t, 7)
	if again := delayedOrder(t, 7); again != first {
		t.Errorf("seed 7 gave\n%s\nand then\n%s", first, again)
	}
	if other := delayedOrder(t, 8); other == first {
		t.Errorf("seeds 7 and 8 both gave\n%s", first)
	}
}

func delayedOrder(t *testing.T, seed uint64) string {
	const puts, messages = 100, transport.MinCredit
	w, c, r := dial(t, transporttest.Delaying(transporttest.NewReference(), seed))
	self, err := w.Endpoints[0].Dial(t.Context(), 0, w.Endpoints[0].Addr())
	if err != nil {
		t.Fatal(err)
	}
	for k := range puts {
		if err := c.Put(r, make([]byte, 8), transport.OpID(k+1)); err != nil {
			t.Fatal(err)
		}
	}
	for k := range messages {
		if err := self.Send([]byte{byte(k)}); err != nil {
			t.Fatal(err)
		}
	}
	var order string
	var last transport.OpID
	next, overtaken := 0, 0
	done := make([]transport.Completion, 4)
	for came := 0; came < puts+messages; {
		n, err := w.Endpoints[0].Poll(done)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range done[:n] {
			order += fmt.Sprint(d.Op, d.Message, " ")
			if d.Message == nil {
				if d.Op < last {
					overtaken++
				}
				last = d.Op
				continue
			}
			if int(d.Message[0]) != next {
				t.Errorf("message %d came in the place of %d", d.Message[0], next)
			}
			next++
		}
		came += n
	}
	if overtaken == 0 {
		t.Errorf("seed %d: no completion was overtaken", seed)
	}
	return order
}

// TestDelayingDelays: over the seeds, a message comes with every Poll from the
// first to the last permitted one.
func TestDelayingDelays(t *testing.T) {
	const longest = 7
	var came [longest + 1]int
	for seed := range uint64(100) {
		w, c, _ := dial(t, transporttest.Delaying(transporttest.NewReference(), seed))
		if err := c.Send([]byte("x")); err != nil {
			t.Fatal(err)
		}
		done := make([]transport.Completion, 1)
		for polls := 0; ; polls++ {
			n, err := w.Endpoints[1].Poll(done)
			if err != nil || polls > longest {
				t.Fatalf("seed %d: no message after %d Polls: %v", seed, polls, err)
			}
			if n == 1 {
				came[polls]++
				break
			}
		}
	}
	for polls, count := range came {
		if count == 0 {
			t.Errorf("no seed of 100 held a message back for %d Polls: %v", polls, came)
		}
	}
}

func TestDecoratorsKeepOrHideTheMapper(t *testing.T) {
	with := func() transport.Provider {
		return mutated{transporttest.NewReference(), mutant{endpoint: func(e transport.Endpoint) transport.Endpoint {
			return withMapper{e}
		}}}
	}
	cases := map[string]struct {
		p   transport.Provider
		has bool
	}{
		"none":                {with(), true},
		"HideMapper":          {transporttest.HideMapper(with()), false},
		"Delaying":            {transporttest.Delaying(with(), 1), true},
		"Failing":             {transporttest.NewFailing(with(), 1), true},
		"Delaying HideMapper": {transporttest.Delaying(transporttest.HideMapper(with()), 1), false},
		"Delaying without":    {transporttest.Delaying(transporttest.NewReference(), 1), false},
	}
	for name, c := range cases {
		w := transporttest.NewWorld(t, c.p, 1)
		if _, has := w.Endpoints[0].(transport.Mapper); has != c.has {
			t.Errorf("%s: the endpoint is a Mapper: %v, want %v", name, has, c.has)
		}
		if c.p.Name() != "reference" {
			t.Errorf("%s: Name() = %q", name, c.p.Name())
		}
	}
}

// withMapper only has the method.
type withMapper struct{ transport.Endpoint }

func (withMapper) Map(int, transport.Remote) ([]byte, bool) { return nil, false }
