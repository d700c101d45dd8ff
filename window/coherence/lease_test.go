package coherence

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Whoever is declared dead has fenced itself: with messages that are lost or arrive
// very late, a connection that is cut, clocks that differ by a fifth, and ticks that come up to T/2 late.
func TestTheDeadHaveFencedThemselves(t *testing.T) {
	for seed := range uint64(2000) {
		if err := newLeaseRun(seed).run(); err != nil {
			t.Fatal(err)
		}
	}
}

// The checks find a lease that is counted from the answer's arrival, and a root that
// does not wait long enough.
func TestLeaseMistakesAreFound(t *testing.T) {
	for name, spoil := range map[string]func(*leaseRun){
		"counted from the answer": func(r *leaseRun) { r.fromAnswer = true },
		"declared after T":        func(r *leaseRun) { r.watch.t /= 2 },
	} {
		found := false
		for seed := uint64(0); seed < 2000 && !found; seed++ {
			r := newLeaseRun(seed)
			spoil(r)
			found = r.run() != nil
		}
		if !found {
			t.Errorf("%s: not found", name)
		}
	}
}

// A host whose messages arrive in time keeps its lease for ever.
func TestLeaseIsKept(t *testing.T) {
	r := newLeaseRun(1)
	r.loss, r.delay, r.cut = 0, leaseT/8, 1<<62
	for range 10_000 {
		r.advance()
	}
	if r.lease.fenced || r.watch.dead != 0 {
		t.Errorf("fenced %v, dead %b", r.lease.fenced, r.watch.dead)
	}
}

const leaseT = 1000

type leaseRun struct {
	*rand.Rand
	seed       uint64
	lease      Lease
	watch      Watch
	now        Ticks // real time
	rate       [2]Ticks
	nextTick   [2]Ticks
	flying     []flyingPulse
	loss       float64
	delay      Ticks
	cut        Ticks // from when on nothing arrives at the root
	fromAnswer bool
}

type flyingPulse struct {
	Pulse
	to int // 0: the host, 1: the root
	at Ticks
}

func newLeaseRun(seed uint64) *leaseRun {
	r := &leaseRun{Rand: rand.New(rand.NewPCG(seed, 1)), seed: seed, lease: NewLease(0, leaseT, 0), watch: NewWatch(1, leaseT, 0)}
	r.loss, r.delay = r.Float64()/2, leaseT*3
	r.cut = r.ticks(20 * leaseT)
	r.rate = [2]Ticks{90 + r.ticks(20), 90 + r.ticks(20)}
	return r
}

func (r *leaseRun) ticks(n int64) Ticks { return Ticks(r.Int64N(n)) }

// clock is what a side's clock shows.
func (r *leaseRun) clock(side int) Ticks { return r.now * r.rate[side] / 100 }

func (r *leaseRun) run() error {
	for range 400 {
		r.advance()
		if r.watch.dead.has(0) && !r.lease.fenced {
			return fmt.Errorf("seed %d: at %d the host is declared dead, and its lease is from %d", r.seed, r.now, r.lease.renewed)
		}
	}
	return nil
}

// advance goes to the next thing that happens.
func (r *leaseRun) advance() {
	next, what := r.nextTick[0], -1
	if r.nextTick[1] < next {
		next, what = r.nextTick[1], -2
	}
	for i, f := range r.flying {
		if f.at < next {
			next, what = f.at, i
		}
	}
	r.now = next
	if what < 0 {
		side := -1 - what
		r.nextTick[side] = r.now + leaseT/8 + r.ticks(leaseT*3/8)
		r.step(side, Pulse{Kind: Tick})
		return
	}
	f := r.flying[what]
	r.flying = append(r.flying[:what], r.flying[what+1:]...)
	if f.to == 1 && r.now > r.cut {
		return
	}
	r.step(f.to, f.Pulse)
}

func (r *leaseRun) step(side int, p Pulse) {
	var out []Pulse
	if side == 0 {
		if r.fromAnswer {
			p.At = r.clock(0)
		}
		out = r.lease.Step(r.clock(0), p, nil)
	} else {
		out = r.watch.Step(r.clock(1), p, nil)
	}
	for _, o := range out {
		if (o.Kind == Beat || o.Kind == BeatAck) && r.Float64() >= r.loss {
			r.flying = append(r.flying, flyingPulse{o, 1 - side, r.now + r.ticks(int64(r.delay))})
		}
	}
}
