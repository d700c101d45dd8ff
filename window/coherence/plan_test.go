package coherence

import (
	"slices"
	"testing"
)

// Hosts that carry out what many Steps have ordered by plans see what they should, in
// random orders of everything.
func TestPlansAreAsGood(t *testing.T) {
	for seed := range uint64(40) {
		c := newCrowd(seed, 2+int(seed%4), 12, int(seed%3), seed%2 == 1)
		c.planned = make([][]Msg, len(c.hosts))
		for range 4000 {
			if err := c.happen(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		for i := range c.hosts {
			c.carryOutPlans(i)
		}
		c.planned = nil
		if err := c.settle(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// The comparison finds a plan that puts an order in front of an earlier one of its page.
func TestPlanMistakeIsFound(t *testing.T) {
	c := newCrowd(0, 3, 12, 0, false)
	c.planned = make([][]Msg, len(c.hosts))
	c.careless = true
	for range 4000 {
		if c.happen() != nil {
			return
		}
	}
	t.Error("not found")
}

// carryOutPlans does what has been put off.
func (c *crowd) carryOutPlans(i int) {
	out := c.planned[i]
	c.planned[i] = nil
	for len(out) > 0 {
		orders, messages, rest := c.planner.Next(out)
		for c.careless && len(rest) > 0 { // all in one plan
			var more, later []Msg
			orders, messages = slices.Clone(orders), slices.Clone(messages)
			more, later, rest = c.planner.Next(rest)
			orders, messages = append(orders, more...), append(messages, later...)
			slices.SortStableFunc(orders, byPhase)
		}
		for _, o := range slices.Concat(orders, messages) {
			c.carryOut(o)
		}
		out = rest
	}
	c.forget(i)
}

// A host that gives up 4,096 pages in a row needs a call for each kind of order.
func TestRuns(t *testing.T) {
	const pages = 4096
	h, err := New(Config{Hosts: 2, Pages: pages, Blocks: []uint8{1}, BlockPages: pages})
	if err != nil {
		t.Fatal(err)
	}
	var out []Msg
	for _, k := range []Kind{PrefetchWrite, GrantWrite, Recall} {
		out = out[:0]
		for p := range Page(pages) {
			m := Msg{Kind: k, Page: p}
			if k != PrefetchWrite {
				m.From = 1
			}
			if k == GrantWrite {
				m.Data = 7
			}
			if out, err = h.Step(m, out); err != nil {
				t.Fatal(err)
			}
		}
	}
	var planner Planner
	orders, messages, rest := planner.Next(out)
	var runs []Kind
	for len(orders) > 0 {
		n := Run(orders)
		if n != pages {
			t.Errorf("%v of %d pages at a time", orders[0].Kind, n)
		}
		runs = append(runs, orders[0].Kind)
		orders = orders[n:]
	}
	if want := []Kind{Protect, Save, Drop, Wake}; !slices.Equal(runs, want) || len(messages) != pages || len(rest) != 0 {
		t.Errorf("%v and %d messages, %d left; want %v", runs, len(messages), len(rest), want)
	}
}
