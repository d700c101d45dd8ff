package coherence

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// A mutant is a protocol with one mistake: another function for one state and
// message. The property that must find it is looked at alone.
type mutant struct {
	finder, mistake string
	cache           func(*[states][kinds]cacheStep)
	directory       func(*[dirStates][kinds]dirStep)
	unspecified     bool // the specification does not speak of it: of protections, and of when a hold ends
}

var mutants = []mutant{
	{finder: "one writer", mistake: "a reader acknowledges, and keeps its copy",
		cache: func(c *[states][kinds]cacheStep) { c[Shared][Invalidate] = ackGone(InvalidateAck) }},
	{finder: "no stale copy", mistake: "a reader acknowledges, and keeps its copy",
		cache: func(c *[states][kinds]cacheStep) { c[Shared][Invalidate] = ackGone(InvalidateAck) }},
	{finder: "no stale copy", mistake: "a writer that is recalled sends zeros",
		cache: func(c *[states][kinds]cacheStep) {
			c[Modified][Recall] = func(c *cache, e *entry, m Msg) { c.order(Protect, m.Page, NoData); c.giveUp(e, m.Page, Invalid, Zero) }
		}},
	{finder: "views obey", mistake: "a downgrade forgets to protect the page", unspecified: true,
		cache: func(c *[states][kinds]cacheStep) { c[Modified][Fetch] = unlessHeld(downgradeUnprotected) }},
	{finder: "directory covers", mistake: "the home forgets that a former writer may still read",
		directory: func(d *[dirStates][kinds]dirStep) {
			d[busy][FetchAck] = func(d *directory, s *hostSet, t *transaction, m Msg) { fetched(d, s, t, m); *s = s.without(m.From) }
		}},
	{finder: "home stores", mistake: "the home does not count its own copy",
		directory: func(d *[dirStates][kinds]dirStep) {
			d[busy][FetchAck] = func(d *directory, s *hostSet, t *transaction, m Msg) { fetched(d, s, t, m); *s = s.without(d.self) }
		}},
	{finder: "content survives", mistake: "a modified page is evicted like one that was only read",
		cache: func(c *[states][kinds]cacheStep) { c[Modified][Evict] = unlessBusy(evictShared) }},
	{finder: "one request", mistake: "a second fault asks again",
		cache: func(c *[states][kinds]cacheStep) { c[Reading][ReadFault] = ask(Read, Reading) }},
	{finder: "wires are short", mistake: "a second fault asks again",
		cache: func(c *[states][kinds]cacheStep) { c[Reading][ReadFault] = ask(Read, Reading) }},
	{finder: "one demand", mistake: "who has evicted its copy does not acknowledge",
		cache: func(c *[states][kinds]cacheStep) { c[Invalid][Invalidate] = ignore }},
	{finder: "no deadlock", mistake: "who wants to write does not acknowledge that it gives up reading",
		cache: func(c *[states][kinds]cacheStep) { c[Upgrading][Invalidate] = ignore }},
	{finder: "holds end", mistake: "a page is held for ever", unspecified: true,
		cache: func(c *[states][kinds]cacheStep) { c[Modified][HoldOver] = ignore }},
	{finder: "wants are pending", mistake: "a grant does not answer who waits",
		cache: func(c *[states][kinds]cacheStep) {
			c[Reading][GrantRead] = func(c *cache, e *entry, m Msg) { grantRead(c, e, m); e.flags |= wanted }
		}},
	{finder: "first come first served", mistake: "who comes last is served first",
		directory: func(d *[dirStates][kinds]dirStep) { d[busy][Write] = pushIn }},
	{finder: "every request is granted", mistake: "who comes last is served first",
		directory: func(d *[dirStates][kinds]dirStep) {
			d[busy][Write], d[busy][Upgrade], d[busy][Read] = pushIn, pushIn, pushIn
		}},
	{finder: "every request is granted", mistake: "a hold is prolonged while somebody else wants the page", unspecified: true,
		cache: func(c *[states][kinds]cacheStep) { c[Modified][HoldOver] = prolong }},
	{finder: "orders fit", mistake: "an evicted page stays in memory",
		cache: func(c *[states][kinds]cacheStep) {
			c[Shared][Evict] = unlessBusy(func(c *cache, e *entry, m Msg) { c.enter(e, m.Page, Invalid) })
		}},
	{finder: "data is kept", mistake: "a page written back while it is demanded is thrown away",
		directory: func(d *[dirStates][kinds]dirStep) {
			d[busy][WriteBack] = func(_ *directory, s *hostSet, _ *transaction, m Msg) { *s = s.without(m.From) }
		}},
	{finder: "a violation", mistake: "who loses its copy forgets that it wants to write",
		cache: func(c *[states][kinds]cacheStep) { c[Upgrading][Invalidate] = unlessHeld(dropShared) }},
}

func downgradeUnprotected(c *cache, e *entry, m Msg) {
	c.enter(e, m.Page, Shared)
	sendShared(c, e, m)
}

func pushIn(_ *directory, _ *hostSet, t *transaction, m Msg) {
	t.queue = slices.Insert(t.queue, 0, request{m.Kind, m.From})
}

func prolong(c *cache, e *entry, m Msg) {
	if e.demand == None {
		holdOver(c, e, m)
		return
	}
	c.order(Hold, m.Page, NoData)
}

func (m mutant) lab() *lab {
	l := newLab(3, false, plainFault...)
	l.only = m.finder
	caches, directories := cacheSteps, dirSteps
	if m.cache != nil {
		m.cache(&caches)
	}
	if m.directory != nil {
		m.directory(&directories)
	}
	for _, h := range l.hosts[:l.n] {
		h.cache.steps, h.directory.steps = &caches, &directories
	}
	return l
}

// Each property finds a mistake that it alone is asked about.
func TestMistakesAreFound(t *testing.T) {
	for _, m := range mutants {
		t.Run(m.finder+": "+m.mistake, func(t *testing.T) {
			err := m.find()
			var b *brokenProperty
			if !errors.As(err, &b) || b.name != m.finder {
				t.Fatalf("not found: %v", err)
			}
			t.Logf("%.300v", err)
		})
	}
}

func (m mutant) find() error {
	l := m.lab()
	if m.finder != "every request is granted" {
		states, err := l.explore()
		if err == nil {
			return fmt.Errorf("%d states are in order", states)
		}
		return err
	}
	g, err := l.graph()
	if err != nil {
		return err
	}
	return g.starved()
}

// No property is without a mistake that it finds.
func TestEveryPropertyFindsSomething(t *testing.T) {
	properties := []string{"a violation", "orders fit", "data is kept", "wires are short", "first come first served", "no deadlock", "every request is granted"}
	for _, i := range invariants {
		properties = append(properties, i.name)
	}
	for _, p := range properties {
		if !slices.ContainsFunc(mutants, func(m mutant) bool { return m.finder == p }) {
			t.Errorf("%s: no mutant", p)
		}
	}
}
