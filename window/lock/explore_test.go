package lock

import (
	"fmt"
	"hash/maphash"
	"os"
	"testing"
)

// Every reachable state of the model is visited. In each of them the lock must
// exclude whom it should; on the way into each of them grants must follow the
// order of the tickets; and a state from which nothing can happen must be one in
// which every living member has finished: a lost wake-up ends in such a state,
// because members may finish whenever they do not hold or want the lock.
func TestEveryInterleaving(t *testing.T) {
	cases := []exploration{
		{2, -1, 0, 0, either},
		{2, -1, 1, 1, either},
		{2, -1, 2, 0, either},
		{3, 1, 0, 0, [3]Mode{Exclusive, Exclusive, Exclusive}},
		{3, 1, 0, 0, [3]Mode{Shared, Exclusive, Shared}},
		{3, 1, 1, 0, [3]Mode{Exclusive, Shared, Exclusive}},
		{3, 1, 0, 1, [3]Mode{Exclusive, Shared, Exclusive}},
	}
	if os.Getenv("GOLAUNCH_SOAK") != "" { // minutes, and gigabytes
		cases = append(cases, exploration{3, 1, 1, 1, either}, exploration{3, -1, 0, 0, either})
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			start := newModel(c.members, c.requests, c.cancels, c.crashes)
			start.fixed = c.fixed
			states, err := explore(start)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states", states)
		})
	}
}

// An exploration says how many members there are, how often each may request the
// lock (negative: without limit) and be cancelled, how many may die, and which mode
// each asks for.
type exploration struct {
	members                    int
	requests, cancels, crashes int8
	fixed                      [maxMembers]Mode
}

var either [maxMembers]Mode

// The properties find mistakes when there are some.
func TestFaultsAreFound(t *testing.T) {
	for f := none + 1; f < faults; f++ {
		start := newModel(2, -1, 0, 0)
		if f == unorderedReader {
			start = newModel(3, 2, 0, 0)
			start.fixed = [maxMembers]Mode{Shared, Exclusive, Shared}
		}
		start.fault = f
		states, err := explore(start)
		if err == nil {
			t.Errorf("fault %d: not found in %d states", f, states)
			continue
		}
		t.Logf("fault %d: %d states: %.150v", f, states, err)
	}
}

// explore visits every state reachable from start.
func explore(start model) (states int, err error) {
	seeds := [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	var code []byte
	key := func(w *model) [2]uint64 {
		code = w.encode(code[:0])
		return [2]uint64{maphash.Bytes(seeds[0], code), maphash.Bytes(seeds[1], code)}
	}
	seen := map[[2]uint64]struct{}{key(&start): {}}
	stack := []model{start}
	var next []model
	for len(stack) > 0 {
		w := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		var own int
		next, own = w.successors(next[:0])
		if err := w.check(own); err != nil {
			return len(seen), fmt.Errorf("%w\n%v", err, w)
		}
		for _, n := range next {
			n.canonical()
			k := key(&n)
			if _, known := seen[k]; !known {
				seen[k] = struct{}{}
				stack = append(stack, n)
			}
		}
	}
	return len(seen), nil
}

// check holds the properties of one state.
func (w model) check(successors int) error {
	if err := w.checkHolders(); err != nil {
		return err
	}
	for i := range w.n {
		if err := w.checkMember(i); err != nil {
			return fmt.Errorf("member %d: %w", i, err)
		}
	}
	if successors == 0 {
		return w.checkEnd()
	}
	return nil
}

// checkHolders: one writer alone, or readers. A member that has been granted the
// lock counts from the moment it can see that.
func (w model) checkHolders() error {
	readers, writers := 0, 0
	for i := range w.n {
		mode := w.members[i].mode
		if w.members[i].doing != holding && phaseOf(w.slot[i]) != granted {
			continue
		}
		if mode == Exclusive {
			writers++
		} else {
			readers++
		}
	}
	if writers > 1 || writers == 1 && readers > 0 {
		return fmt.Errorf("%d writers and %d readers hold the lock", writers, readers)
	}
	return nil
}

func (w model) checkMember(i int) error {
	me := &w.members[i]
	for j, times := range me.passed {
		if times > 1 {
			return fmt.Errorf("member %d was given the lock %d times while this member's request was in the queue", j, times)
		}
	}
	if me.doing != inMachine {
		return nil
	}
	switch me.m.at {
	case grantWriter, grantReader:
		return w.checkOrder(i)
	case dropLatch:
		for j := range w.n {
			if me.announced[j] && phaseOf(w.slot[j]) == announced {
				return fmt.Errorf("leaves the latch without having queued the request of member %d", j)
			}
		}
	}
	return nil
}

// checkOrder: nobody with an earlier ticket is left behind by a grant, except
// readers, who are granted the lock in the order of their numbers.
func (w model) checkOrder(i int) error {
	m := &w.members[i].m
	for j := range w.n {
		slot := w.slot[j]
		if phaseOf(slot) != queued || ticketOf(slot) >= ticketOf(m.seen) {
			continue
		}
		if m.at == grantWriter || modeOf(slot) == Exclusive {
			return fmt.Errorf("grants member %d the lock before member %d", m.i, j)
		}
	}
	return nil
}

func (w model) checkEnd() error {
	for i := range w.n {
		if me := w.members[i]; me.doing != finished && me.doing != dead {
			return fmt.Errorf("member %d waits for ever to %s", i, steps[me.m.at].name)
		}
	}
	if w.anyDead() {
		return nil
	}
	if w.state != 0 || w.latch != 0 {
		return fmt.Errorf("state %#x and latch %#x are left behind", w.state, w.latch)
	}
	return nil
}

func (w model) String() string {
	s := fmt.Sprintf("state %#x latch %#x", w.state, w.latch)
	for i := range w.n {
		me := w.members[i]
		s += fmt.Sprintf("\nmember %d: slot %#x, activity %d, %v, %s, nap %d, rung %v", i, w.slot[i], me.doing, me.mode, steps[me.m.at].name, me.nap, me.rung)
	}
	return s
}
