package ranges

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// A pair is a Cache and the simplest thing that does the same: the list of all
// entries, idle ones in the order of their last use.
type pair struct {
	cache Cache[int]
	live  map[int]*Entry[int] // by value, those not ended
	model []mirror            // the same
	next  int
}

type mirror struct {
	r     Range
	value int
	users int
	out   bool
}

// A step is an operation on both.
type step struct {
	op   byte // 'f'ind or add, 'r'elease, 'e'vict, 'i'nvalidate
	r    Range
	user int // 'r': of the entry with that value
}

func newPair() *pair { return &pair{live: map[int]*Entry[int]{}} }

func (p *pair) do(s step) error {
	switch s.op {
	case 'f':
		return p.find(s.r)
	case 'r':
		return p.release(s.user)
	case 'e':
		return p.evict()
	}
	return p.invalidate(s.r)
}

func (p *pair) at(value int) int {
	return slices.IndexFunc(p.model, func(m mirror) bool { return m.value == value })
}

func (p *pair) find(r Range) error {
	e := p.cache.Find(r)
	want := slices.ContainsFunc(p.model, func(m mirror) bool { return !m.out && m.r.contains(r) })
	if (e != nil) != want {
		return fmt.Errorf("found %v, want %v", e, want)
	}
	if e != nil {
		if !e.contains(r) || p.live[e.Value] != e {
			return fmt.Errorf("found %v", e)
		}
		p.model[p.at(e.Value)].users++
		return nil
	}
	p.next++
	e, end := p.cache.Add(r, p.next)
	p.live[p.next] = e
	if err := p.ended(end, func(m mirror) bool { return r.contains(m.r) }); err != nil {
		return err
	}
	p.model = append(p.model, mirror{r: r, value: p.next, users: 1})
	return nil
}

// ended takes those of which is is true out of the model and compares.
func (p *pair) ended(end []*Entry[int], is func(mirror) bool) error {
	var want []int
	for i := range p.model {
		if m := &p.model[i]; !m.out && is(*m) {
			m.out = true
			if m.users == 0 {
				want = append(want, m.value)
			}
		}
	}
	var got []int
	for _, e := range end {
		got = append(got, e.Value)
		delete(p.live, e.Value)
	}
	p.model = slices.DeleteFunc(p.model, func(m mirror) bool { return m.out && m.users == 0 })
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Errorf("ended %v, want %v", got, want)
	}
	return nil
}

func (p *pair) release(value int) error {
	i := p.at(value)
	m := p.model[i]
	m.users--
	p.model = slices.Delete(p.model, i, i+1)
	over := p.cache.Release(p.live[value])
	if want := m.out && m.users == 0; over != want {
		return fmt.Errorf("released %d: to be ended is %v", value, over)
	}
	if over {
		delete(p.live, value)
		return nil
	}
	p.model = append(p.model, m) // the last one used, if it is idle now
	return nil
}

func (p *pair) evict() error {
	e := p.cache.Evict()
	i := slices.IndexFunc(p.model, func(m mirror) bool { return m.users == 0 })
	if (e == nil) != (i < 0) || e != nil && e.Value != p.model[i].value {
		return fmt.Errorf("evicted %v of %v", e, p.model)
	}
	if e != nil {
		p.model = slices.Delete(p.model, i, i+1)
		delete(p.live, e.Value)
	}
	return nil
}

func (p *pair) invalidate(r Range) error {
	used := 0
	for _, m := range p.model {
		if !m.out && m.r.overlaps(r) && m.users > 0 {
			used++
		}
	}
	end, got := p.cache.Invalidate(r)
	if got != used {
		return fmt.Errorf("invalidated %v: %d have users, want %d", r, got, used)
	}
	return p.ended(end, func(m mirror) bool { return m.r.overlaps(r) })
}

// check looks at the invariants.
func (p *pair) check() error {
	var all, idle int64
	for _, m := range p.model {
		all += m.r.Bytes()
		if m.users == 0 {
			idle += m.r.Bytes()
		}
	}
	if a, i := p.cache.Bytes(); a != all || i != idle {
		return fmt.Errorf("%d bytes, %d of them idle; want %d, %d", a, i, all, idle)
	}
	for i, e := range p.cache.index {
		if p.cache.starts[i] != e.Start || i > 0 && (p.cache.index[i-1].Start >= e.Start || p.cache.index[i-1].End >= e.End) {
			return fmt.Errorf("the index is out of order: %v", p.cache.starts)
		}
	}
	return nil
}

// Every sequence of four operations on the ranges of four addresses, beginning with a
// registration, agrees with the model; five in a soak.
func TestEverySequence(t *testing.T) {
	var steps []step
	for start := range uintptr(4) {
		for end := start + 1; end <= 4; end++ {
			steps = append(steps, step{op: 'f', r: Range{start, end}}, step{op: 'i', r: Range{start, end}})
		}
	}
	for value := 1; value <= 3; value++ {
		steps = append(steps, step{op: 'r', user: value})
	}
	steps = append(steps, step{op: 'e'})
	depth, count := 4, 0
	if os.Getenv("GOLAUNCH_SOAK") != "" {
		depth = 5
	}
	var visit func(path []step)
	visit = func(path []step) {
		p := newPair()
		for _, s := range path {
			if s.op == 'r' && (p.at(s.user) < 0 || p.model[p.at(s.user)].users == 0) {
				return // nobody could
			}
			if err := firstError(p.do(s), p.check); err != nil {
				t.Fatalf("%v: %v", path, err)
			}
		}
		count++
		if len(path) == depth {
			return
		}
		for _, s := range steps {
			visit(append(path[:len(path):len(path)], s))
		}
	}
	for _, s := range steps {
		if s.op == 'f' {
			visit([]step{s})
		}
	}
	t.Logf("%d sequences", count)
}

func firstError(err error, then func() error) error {
	if err != nil {
		return err
	}
	return then()
}

func TestRandomSequences(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 3))
		p := newPair()
		for i := range 2000 {
			s := step{op: "ffffffrrrrrrei"[rng.IntN(14)]}
			s.r.Start = uintptr(rng.IntN(200))
			s.r.End = s.r.Start + 1 + uintptr(rng.IntN(1+rng.IntN(60)))
			if s.op == 'r' {
				var used []int
				for _, m := range p.model {
					if m.users > 0 {
						used = append(used, m.value)
					}
				}
				if used == nil {
					continue
				}
				s.user = used[rng.IntN(len(used))]
			}
			if err := firstError(p.do(s), p.check); err != nil {
				t.Fatalf("seed %d, step %d, %+v: %v", seed, i, s, err)
			}
		}
	}
}
