package quarantine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// The model: one owner with memory at one address, and origins with a channel to
// and from the owner each, in order. The address is given to windows 1, 2, ... in
// turn; even ones are buffers instead, which have no hold of their own when they are
// freed but a wide one. An origin that has a handle may write. It gives the handle
// up when it hears that the memory is freed, or before, by itself; and it may die.
//
// Safe: a write arrives while its window has the address, or while that is kept.
// Live: where nothing more can happen but a death, nothing is kept.

type fault int

const (
	none           fault = iota
	impatient            // the owner waits for nobody
	oneIsEnough          // the owner takes the first confirmation for all
	confirmJumps         // a confirmation overtakes what was written before
	staleWrite           // an origin writes after it has confirmed
	goneJumps            // a dead origin is gone although its writes are under way
	goneUnnoticed        // nobody tells the owner that an origin is gone
	earlyForgotten       // a confirmation before the hold is open is lost
	faults
)

type message struct {
	kind   byte // 'g'rant, 'f'reed; 'w'rite, 'c'onfirm, 'x' gone
	window int
}

type origin struct {
	in, out   []message
	handle    int // of this window; 0: none
	confirmed int // windows up to this one
	writes    int // it may still begin
	dead      bool
}

type place int

const (
	idle place = iota
	live
	freed
)

type world struct {
	fault   fault
	windows int // still to come
	window  int // that has or had the address
	place   place
	origins []origin
	ledger  Ledger[int, int]
}

func (w *world) clone() *world {
	n := *w
	n.origins = slices.Clone(w.origins)
	for i := range n.origins {
		n.origins[i].in, n.origins[i].out = slices.Clone(w.origins[i].in), slices.Clone(w.origins[i].out)
	}
	n.ledger = w.ledger.clone()
	return &n
}

func (l *Ledger[Name, Extent]) clone() Ledger[Name, Extent] {
	n := Ledger[Name, Extent]{open: map[Name]*hold[Extent]{}, early: map[Name][]int{}, gone: maps.Clone(l.gone)}
	copies := map[*kept[Extent]]*kept[Extent]{}
	for name, ranks := range l.early {
		n.early[name] = slices.Clone(ranks)
	}
	for name, h := range l.open {
		c := &hold[Extent]{wide: h.wide, waits: maps.Clone(h.waits)}
		for _, k := range h.keeping {
			if copies[k] == nil {
				copies[k] = &kept[Extent]{k.extent, k.holds}
			}
			c.keeping = append(c.keeping, copies[k])
		}
		n.open[name] = c
	}
	return n
}

func (w *world) key() string {
	var b strings.Builder
	fmt.Fprint(&b, w.windows, w.window, w.place, w.origins, w.ledger.gone)
	for _, name := range slices.Sorted(maps.Keys(w.ledger.open)) {
		h := w.ledger.open[name]
		fmt.Fprint(&b, "|", name, h.wide, h.waits)
		for _, k := range h.keeping {
			fmt.Fprint(&b, " ", *k)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.ledger.early)) {
		fmt.Fprint(&b, "!", name, slices.Sorted(slices.Values(w.ledger.early[name])))
	}
	return b.String()
}

func (w *world) ranks() []int {
	ranks := make([]int, len(w.origins))
	for i := range ranks {
		ranks[i] = i
	}
	return ranks
}

// nexts are the worlds one step on, and whether one of the steps is not a death. A
// step that is not safe is an error.
func (w *world) nexts() (all []*world, moves bool, err error) {
	step := func(do func(n *world) error) {
		n := w.clone()
		if e := do(n); e != nil && err == nil {
			err = e
		}
		all = append(all, n)
		moves = true
	}
	if w.place == idle && w.windows > 0 {
		step((*world).allocate)
	}
	if w.place == live {
		step((*world).free)
	}
	for i := range w.origins {
		o := &w.origins[i]
		if len(o.out) > 0 {
			step(func(n *world) error { return n.arrive(i, 0) })
		}
		if w.fault == confirmJumps && len(o.out) > 1 && o.out[1].kind == 'c' ||
			w.fault == goneJumps && len(o.out) > 1 && o.out[1].kind == 'x' {
			step(func(n *world) error { return n.arrive(i, 1) })
		}
		if o.dead {
			continue
		}
		if len(o.in) > 0 {
			step(func(n *world) error { n.hear(i); return nil })
		}
		if o.handle != 0 {
			step(func(n *world) error { n.give(i); return nil })
		}
		if o.writes > 0 && (o.handle != 0 || w.fault == staleWrite && o.confirmed > 0) {
			step(func(n *world) error { n.write(i); return nil })
		}
		n := w.clone()
		n.die(i)
		all = append(all, n)
	}
	return all, moves, err
}

func (w *world) allocate() error {
	w.windows--
	w.window++
	w.place = live
	for i := range w.origins {
		w.origins[i].in = append(w.origins[i].in, message{'g', w.window})
	}
	return nil
}

func (w *world) free() error {
	for i := range w.origins {
		w.origins[i].in = append(w.origins[i].in, message{'f', w.window})
	}
	if w.fault == earlyForgotten {
		w.ledger.early = nil
	}
	w.ledger.Open(w.window, w.ranks(), w.window%2 == 0)
	under := w.window
	if w.window%2 == 0 {
		under = 0
	}
	w.place = idle
	if w.ledger.Free(w.window, under) && w.fault != impatient {
		w.place = freed
	}
	return nil
}

func (w *world) release(extents []int) error {
	for _, e := range extents {
		if w.fault == impatient {
			continue
		}
		if w.place != freed || e != w.window {
			return fmt.Errorf("window %d is released when window %d is in state %d", e, w.window, w.place)
		}
		w.place = idle
	}
	return nil
}

// arrive takes a message of an origin.
func (w *world) arrive(i, at int) error {
	o := &w.origins[i]
	m := o.out[at]
	o.out = slices.Delete(o.out, at, at+1)
	switch m.kind {
	case 'w':
		if w.window != m.window || w.place == idle {
			return fmt.Errorf("a write of origin %d into window %d arrives when window %d is in state %d", i, m.window, w.window, w.place)
		}
	case 'c':
		ranks := []int{i}
		if w.fault == oneIsEnough && w.ledger.open[m.window] != nil {
			ranks = w.ranks()
		}
		for _, rank := range ranks {
			if err := w.release(w.ledger.Confirm(m.window, rank)); err != nil {
				return err
			}
		}
	case 'x':
		return w.release(w.ledger.Gone(i))
	}
	return nil
}

// hear is an origin taking a message of the owner.
func (w *world) hear(i int) {
	o := &w.origins[i]
	m := o.in[0]
	o.in = o.in[1:]
	switch {
	case m.kind == 'g':
		o.handle = m.window
	case o.handle == m.window:
		w.give(i)
	}
}

func (w *world) give(i int) {
	o := &w.origins[i]
	o.out = append(o.out, message{'c', o.handle})
	o.confirmed, o.handle = o.handle, 0
}

func (w *world) write(i int) {
	o := &w.origins[i]
	o.writes--
	o.out = append(o.out, message{'w', max(o.handle, o.confirmed)})
}

func (w *world) die(i int) {
	o := &w.origins[i]
	o.dead, o.handle, o.in, o.writes = true, 0, nil, 0
	if w.fault != goneUnnoticed {
		o.out = append(o.out, message{'x', 0})
	}
}

// explore visits every world that can be reached.
func explore(start *world, limit int) (states int, err error) {
	seen := map[string]bool{start.key(): true}
	stack := []*world{start}
	for len(stack) > 0 {
		w := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		nexts, moves, err := w.nexts()
		if err != nil {
			return len(seen), fmt.Errorf("%w\nafter %s", err, w.key())
		}
		if !moves && w.place == freed {
			return len(seen), fmt.Errorf("window %d is kept for ever: %s", w.window, w.key())
		}
		for _, n := range nexts {
			if k := n.key(); !seen[k] {
				seen[k] = true
				stack = append(stack, n)
			}
		}
		if len(seen) > limit {
			return len(seen), fmt.Errorf("more than %d states", limit)
		}
	}
	return len(seen), nil
}

func newWorld(origins, windows, writes int, f fault) *world {
	w := &world{fault: f, windows: windows, origins: make([]origin, origins)}
	for i := range w.origins {
		w.origins[i].writes = writes
	}
	return w
}

func TestEveryOrder(t *testing.T) {
	for _, c := range []struct{ origins, windows, writes int }{{1, 3, 2}, {2, 2, 1}, {2, 3, 1}, {3, 2, 0}} {
		states, err := explore(newWorld(c.origins, c.windows, c.writes, none), 1<<21)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		t.Logf("%+v: %d states", c, states)
	}
}

func TestFaultsAreFound(t *testing.T) {
	for f := none + 1; f < faults; f++ {
		states, err := explore(newWorld(2, 2, 1, f), 1<<21)
		if err == nil || strings.Contains(err.Error(), "more than") {
			t.Errorf("fault %d: not found in %d states", f, states)
			continue
		}
		t.Logf("fault %d: %d states: %v", f, states, err)
	}
}
