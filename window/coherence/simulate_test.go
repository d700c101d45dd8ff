package coherence

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// Four hosts fight over the same pages, in simulated time: each has a thread that
// faults, is woken some microseconds after the grant, and tries again.

type simulation struct {
	*rand.Rand
	now    time.Duration
	events events
	seq    int
	hosts  []*fighter
	last   [][]time.Duration // when the last message of a pair arrives
	hold   time.Duration
	choose func() []Page // what a host does next
	worst  time.Duration // that an operation took
	err    error
}

// fighter is a host and its thread.
type fighter struct {
	*Host
	operation []Page // the pages that it must be able to write at once
	waiting   Page
	since     time.Duration // of the operation
	asleep    bool
	done      int
	faults    int
}

type event struct {
	at  time.Duration
	seq int
	do  func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].seq < e[j].seq
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

func newSimulation(seed uint64, hold time.Duration, operation ...Page) *simulation {
	const n = 4
	s := &simulation{Rand: rand.New(rand.NewPCG(seed, 2)), hold: hold, choose: func() []Page { return operation }}
	for i := range n {
		h, err := New(Config{Self: i, Hosts: n, Pages: 4, Blocks: []uint8{0, 1, 2, 3}, BlockPages: 1})
		if err != nil {
			panic(err)
		}
		s.hosts = append(s.hosts, &fighter{Host: h, operation: operation})
		s.last = append(s.last, make([]time.Duration, n))
		s.after(s.between(0, 50), func() { s.try(i) })
	}
	return s
}

func (s *simulation) after(d time.Duration, do func()) {
	s.seq++
	heap.Push(&s.events, event{s.now + d, s.seq, do})
}

// between is a random time, in microseconds.
func (s *simulation) between(from, to float64) time.Duration {
	return time.Duration((from + (to-from)*s.Float64()) * float64(time.Microsecond))
}

func (s *simulation) run(until time.Duration) error {
	for len(s.events) > 0 && s.now < until && s.err == nil {
		e := heap.Pop(&s.events).(event)
		s.now = e.at
		e.do()
	}
	return s.err
}

// try is the thread's access: it faults on a page that it may not write, or is done
// and comes again soon.
func (s *simulation) try(i int) {
	f := s.hosts[i]
	first := s.IntN(len(f.operation)) // which page is looked at first is the processor's affair
	for k := range f.operation {
		if p := f.operation[(first+k)%len(f.operation)]; !f.State(p).Writable() {
			f.waiting, f.asleep = p, true
			f.faults++
			s.after(s.between(1, 5), func() { s.step(i, Msg{Kind: WriteFault, From: uint8(i), Page: p}) })
			return
		}
	}
	f.done++
	s.worst = max(s.worst, s.now-f.since)
	f.operation, f.since = s.choose(), s.now
	s.after(s.between(0.1, 2), func() { s.try(i) })
}

func (s *simulation) step(i int, m Msg) {
	m.To = uint8(i)
	out, err := s.hosts[i].Step(m, nil)
	if err != nil {
		s.err = fmt.Errorf("at %v: %w", s.now, err)
		return
	}
	for _, o := range out {
		switch {
		case !o.Kind.isOrder():
			s.deliver(i, o)
		case o.Kind == Hold:
			s.after(s.hold, func() { s.step(i, Msg{Kind: HoldOver, From: uint8(i), Page: o.Page}) })
		case o.Kind == Wake:
			s.wake(i, o.Page)
		}
	}
}

// deliver takes 15 to 40 us, and keeps the order of a pair.
func (s *simulation) deliver(from int, m Msg) {
	if m.Data != NoData {
		m.Data = 1
	}
	last := &s.last[from][m.To]
	*last = max(*last+1, s.now+s.between(15, 40))
	s.after(*last-s.now, func() { s.step(int(m.To), m) })
}

// wake: the thread runs some time after the grant, and now and then much later.
func (s *simulation) wake(i int, p Page) {
	f := s.hosts[i]
	if !f.asleep || f.waiting != p {
		return
	}
	f.asleep = false
	delay := s.between(2, 20)
	if s.IntN(20) == 0 {
		delay = s.between(20, 150)
	}
	s.after(delay, func() { s.try(i) })
}

// Four hosts that add to one word, or store across a page boundary, each complete at
// least a tenth of all operations.
func TestEachAdvances(t *testing.T) {
	for name, operation := range map[string][]Page{"one word": {0}, "across a boundary": {0, 1}} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(10) {
				s := newSimulation(seed, 100*time.Microsecond, operation...)
				if err := s.run(500 * time.Millisecond); err != nil {
					t.Fatal(err)
				}
				total, least, faults := s.score()
				if seed == 0 {
					t.Logf("in 0.5 s %d operations, the least %.1f %% of them, %.2f faults an operation", total, 100*float64(least)/float64(total), float64(faults)/float64(total))
				}
				if total < 500 || least*10 < total {
					t.Errorf("seed %d: %d operations, and one host has completed %d", seed, total, least)
				}
			}
		})
	}
}

// Without holding, hosts pass the page on before their threads come to the access: the
// test above can see a difference.
func TestHoldingIsWhatHelps(t *testing.T) {
	perOperation := func(hold time.Duration) float64 {
		s := newSimulation(1, hold, 0)
		if err := s.run(200 * time.Millisecond); err != nil {
			t.Fatal(err)
		}
		total, _, faults := s.score()
		return float64(faults) / float64(total+1)
	}
	with, without := perOperation(100*time.Microsecond), perOperation(0)
	t.Logf("%.3f faults an operation with holding, %.1f without", with, without)
	if without < 10*with {
		t.Errorf("%v faults an operation with holding and %v without", with, without)
	}
}

// Hosts that store across different boundaries, and wait for each other's pages, all
// advance. If they also kept a page while they wait for the one below, they would wait
// in a circle some day.
func TestNobodyWaitsInACircle(t *testing.T) {
	worst := func(prolong cacheStep) time.Duration {
		s := newSimulation(3, 100*time.Microsecond, 0, 1)
		s.choose = func() []Page { p := Page(s.IntN(3)); return []Page{p, p + 1} }
		steps := cacheSteps
		for state := Shared; state <= Modified; state++ {
			steps[state][HoldOver] = prolong
		}
		for _, f := range s.hosts {
			f.cache.steps = &steps
		}
		if err := s.run(time.Second); err != nil {
			t.Fatal(err)
		}
		for _, f := range s.hosts {
			s.worst = max(s.worst, s.now-f.since)
		}
		return s.worst
	}
	both := func(c *cache, e *entry, m Msg) {
		if m.Page > 0 && c.waitsFor(m.Page-1) {
			c.order(Hold, m.Page, NoData)
			return
		}
		holdOver(c, e, m)
	}
	up, circle := worst(holdOver), worst(both)
	t.Logf("the longest operation took %v; with the mistake %v", up, circle)
	if up > 20*time.Millisecond || circle < 500*time.Millisecond {
		t.Errorf("the longest operation took %v; with the mistake %v", up, circle)
	}
}

func (s *simulation) score() (total, least, faults int) {
	least = s.hosts[0].done
	for _, f := range s.hosts {
		total += f.done
		faults += f.faults
		least = min(least, f.done)
	}
	return total, least, faults
}
