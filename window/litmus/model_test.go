package litmus

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// A model says what a memory may do.
type model int

const (
	// sequential: the threads' steps, in some order, one after the other (Lamport, 1979).
	sequential model = iota
	// buffered: each thread's stores go through a buffer, first in, first out, which its own
	// loads look at; an add waits until it is empty. That is an x86 (Sewell et al.: x86-TSO,
	// 2010).
	buffered
	// located: each location by itself is sequentially consistent. Of shapes with several
	// locations nothing is said.
	located
)

func (m model) String() string {
	return [...]string{"sequential consistency", "store buffers", "each location"}[m]
}

// allowed are the outcomes that a model allows: all orders are tried.
func allowed(s shape, m model) map[string]bool {
	e := explorer{shape: s, model: m, seen: map[string]bool{}, outcomes: map[string]bool{}}
	e.from(state{
		next: make([]int, len(s.threads)), buffers: make([][]step, len(s.threads)),
		memory: make([]int64, len(s.locs)), regs: make([]int64, s.regs),
	})
	return e.outcomes
}

type explorer struct {
	shape
	model    model
	seen     map[string]bool
	outcomes map[string]bool
}

type state struct {
	next    []int    // step of each thread
	buffers [][]step // stores that are under way
	memory  []int64
	regs    []int64
}

func (s state) clone() state {
	s.next, s.memory, s.regs = slices.Clone(s.next), slices.Clone(s.memory), slices.Clone(s.regs)
	s.buffers = slices.Clone(s.buffers)
	return s
}

func (e *explorer) from(s state) {
	key := fmt.Sprint(s)
	if e.seen[key] {
		return
	}
	e.seen[key] = true
	over := true
	for t, steps := range e.threads {
		if len(s.buffers[t]) > 0 {
			over = false
			e.from(s.arrive(t))
		}
		if s.next[t] < len(steps) {
			over = false
			e.execute(s.clone(), t, steps[s.next[t]])
		}
	}
	if over {
		e.outcomes[e.outcome(s.regs, s.memory)] = true
	}
}

// arrive lets a thread's oldest store reach memory.
func (s state) arrive(t int) state {
	s = s.clone()
	oldest := s.buffers[t][0]
	s.memory[oldest.loc] = oldest.value
	s.buffers[t] = s.buffers[t][1:]
	return s
}

// execute does a thread's step, and what follows.
func (e *explorer) execute(s state, t int, step step) {
	switch {
	case step.do == load:
		s.regs[step.reg] = s.look(t, step.loc)
	case step.do == store && e.model == sequential:
		s.memory[step.loc] = step.value
	case step.do == store:
		s.buffers[t] = append(slices.Clone(s.buffers[t]), step)
	case len(s.buffers[t]) > 0: // an add waits
		return
	default:
		s.regs[step.reg] = s.memory[step.loc]
		s.memory[step.loc]++
	}
	s.next[t]++
	e.from(s)
}

// look is what a thread finds in a location: its own latest store, if that is under way.
func (s state) look(t, loc int) int64 {
	for _, step := range slices.Backward(s.buffers[t]) {
		if step.loc == loc {
			return step.value
		}
	}
	return s.memory[loc]
}

// judge is an error if something came out that the model does not allow.
func judge(s shape, m model, outcomes map[string]int) error {
	if m == located {
		if len(s.locs) > 1 {
			return nil
		}
		m = sequential
	}
	may := allowed(s, m)
	var bad []string
	for _, o := range slices.Sorted(maps.Keys(outcomes)) {
		if !may[o] {
			bad = append(bad, fmt.Sprintf("%s: %d times", o, outcomes[o]))
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s does not allow %s", s.name, m, strings.Join(bad, ", "))
}

// What the literature says of some shapes, and that a forbidden outcome is noticed.
func TestModels(t *testing.T) {
	for _, c := range []struct {
		shape, outcome       string
		sequential, buffered bool
	}{
		{"store buffering", "r0=0 r1=0 x=1 y=1", false, true},
		{"store buffering", "r0=0 r1=1 x=1 y=1", true, true},
		{"message passing", "r0=1 r1=0 x=1 y=1", false, false},
		{"message passing", "r0=0 r1=1 x=1 y=1", true, true},
		{"load buffering", "r0=1 r1=1 x=1 y=1", false, false},
		{"IRIW", "r0=1 r1=0 r2=1 r3=0 x=1 y=1", false, false},
		{"write to read", "r0=1 r1=1 r2=0 x=1 y=1", false, false},
		{"R", "r0=0 x=1 y=2", false, true},
		{"S", "r0=1 x=2 y=1", false, false},
		{"2+2W", "x=1 y=1", false, false},
		{"CoRR", "r0=1 r1=0 x=1", false, false},
		{"CoWW", "r0=2 r1=1 x=2", false, false},
		{"CoWW", "r0=0 r1=0 x=1", false, false},
		{"CoRW", "r0=2 r1=2 x=2", false, false},
		{"two readers", "r0=1 r1=2 r2=2 r3=1 x=1", false, false},
		{"adds", "r0=0 r1=0 r2=1 x=2", false, false},
		{"adds", "r0=2 r1=0 r2=1 x=3", true, true},
		{"adds as fences", "r0=0 r1=0 r2=0 r3=0 x=1 z=1 y=1 u=1", false, false},
	} {
		i := slices.IndexFunc(shapes, func(s shape) bool { return s.name == c.shape })
		oneLocation := len(shapes[i].locs) == 1
		for m, want := range map[model]bool{sequential: c.sequential, buffered: c.buffered, located: c.sequential || !oneLocation} {
			if got := judge(shapes[i], m, map[string]int{c.outcome: 1}) == nil; got != want {
				t.Errorf("%s, %s: %s is allowed: %v, want %v", c.shape, m, c.outcome, got, want)
			}
		}
	}
}

// Every outcome without buffers is one with buffers.
func TestBuffersAllowMore(t *testing.T) {
	for _, s := range shapes {
		strict, weak := allowed(s, sequential), allowed(s, buffered)
		for o := range strict {
			if !weak[o] {
				t.Errorf("%s: %s", s.name, o)
			}
		}
		t.Logf("%s: %d outcomes, %d with buffers", s.name, len(strict), len(weak))
	}
}
