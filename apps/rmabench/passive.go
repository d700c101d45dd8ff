package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/golaunch/golaunch/apps/internal/bench/figures"
	"github.com/golaunch/golaunch/window"
)

// The op passive asks what a target that does not take part costs the origin: whether
// operations wait for a target that computes and calls nothing. Targets that are idle
// (their goroutine sleeps) and busy ones take turns, so that whatever else the machine does
// disturbs both.

const (
	// burstTime is how long a round of operations without gaps takes, gapsTime one with
	// gaps.
	burstTime = 200 * time.Millisecond
	gapsTime  = 2400 * time.Millisecond
	shortest  = 4 * time.Millisecond // of any round
	// lead is how long before its end the origin ends a round: a part of it.
	lead   = 10
	gapMin = 20 * time.Millisecond
	gapMax = 50 * time.Millisecond
)

// A round is a stretch of time in which the target does one thing and the origin another.
type round struct {
	busy    bool // the target computes
	gaps    bool // the origin lets time pass between operations
	nothing bool // the origin does nothing
}

// rounds are repeated as often as there are batches.
var rounds = []round{{busy: true, nothing: true}, {}, {busy: true}, {gaps: true}, {busy: true, gaps: true}}

// The elements of its window, at the target.
const (
	putAt = iota
	counterAt
	quietAt  // how fast the target computes, in steps a millisecond: left alone
	burstsAt // while operations come without gaps
	gapsAt   // and with gaps
	elements
)

// A passive is one rank's part of the op.
type passive struct {
	*suite
	window *window.Window[int64]
	random *rand.Rand
	times  map[round][][]float64 // by operation, in microseconds
	speeds [elements][]float64   // of the computation
	put    int64                 // what was put last
	added  int64
}

// operations are what the origin does in turn.
var operations = [...]struct {
	name string
	do   func(p *passive) error
}{
	{"put", (*passive).putOne}, {"get", (*passive).getOne}, {"fetch_add", (*passive).addOne},
}

func (s *suite) besideOthers() error {
	w, err := window.Allocate[int64](s.ctx, s.comm, elements, window.Name("passive"))
	if err != nil {
		return err
	}
	p := &passive{suite: s, window: w, random: rand.New(rand.NewPCG(1, 2)), times: map[round][][]float64{}}
	if err := p.measure(); err != nil {
		return err
	}
	return w.Free(s.ctx)
}

func (p *passive) measure() error {
	if err := p.window.LockAll(p.ctx); err != nil {
		return err
	}
	for range p.opt.Batches {
		for _, r := range rounds {
			if err := p.round(r); err != nil {
				return err
			}
		}
	}
	if err := p.window.UnlockAll(); err != nil {
		return err
	}
	for at := quietAt; p.is(target) && at < elements; at++ {
		p.window.Local()[at] = int64(figures.Median(p.speeds[at]))
	}
	got, err := p.verify()
	if err != nil || !p.is(origin) {
		return err
	}
	return p.print(got)
}

func (p *passive) round(r round) error {
	if err := p.barrier(); err != nil {
		return err
	}
	length := p.length(r)
	switch {
	case p.is(target) && r.busy:
		at := r.speedAt()
		p.speeds[at] = append(p.speeds[at], compute(length))
	case p.is(target):
		sleep(p.ctx, length)
	case p.is(origin) && !r.nothing:
		if err := p.operate(r, time.Now().Add(length-length/lead)); err != nil {
			return err
		}
	}
	return p.barrier()
}

func (r round) speedAt() int {
	switch {
	case r.nothing:
		return quietAt
	case r.gaps:
		return gapsAt
	}
	return burstsAt
}

// length is how long a round takes; --divide makes it shorter.
func (p *passive) length(r round) time.Duration {
	length := burstTime
	if r.gaps {
		length = gapsTime
	}
	return max(length/time.Duration(max(p.opt.Divide, 1)), shortest)
}

// operate does one operation after the other until the round ends.
func (p *passive) operate(r round, end time.Time) error {
	times := p.times[r]
	if times == nil {
		times = make([][]float64, len(operations))
		p.times[r] = times
	}
	for i := p.random.IntN(len(operations)); ; i = (i + 1) % len(operations) {
		if r.gaps {
			sleep(p.ctx, min(gapMin+time.Duration(p.random.Int64N(int64(gapMax-gapMin))), time.Until(end)))
		}
		began := time.Now()
		if !began.Before(end) {
			return nil
		}
		if err := operations[i].do(p); err != nil {
			return fmt.Errorf("%s: %w", operations[i].name, err)
		}
		times[i] = append(times[i], time.Since(began).Seconds()*1e6)
	}
}

func (p *passive) putOne() error {
	p.put++
	if err := p.window.Put(target, putAt, []int64{p.put}); err != nil {
		return err
	}
	return p.window.Flush(target)
}

func (p *passive) getOne() error {
	var got [1]int64
	if err := p.window.Get(target, putAt, got[:]); err != nil {
		return err
	}
	if got[0] != p.put {
		return fmt.Errorf("got %d, want %d", got[0], p.put)
	}
	return nil
}

func (p *passive) addOne() error {
	old, err := p.window.FetchAdd(target, counterAt, 1)
	if err == nil && old != p.added {
		err = fmt.Errorf("found %d, want %d", old, p.added)
	}
	p.added++
	return err
}

// verify compares what the target has with what the origin did, and returns it.
func (p *passive) verify() ([]int64, error) {
	if err := p.window.Fence(p.ctx); err != nil {
		return nil, err
	}
	got := make([]int64, elements)
	if p.is(origin) {
		if err := p.window.Get(target, 0, got); err != nil {
			return nil, err
		}
		if got[putAt] != p.put || got[counterAt] != p.added {
			return nil, fmt.Errorf("the target holds %v, want %d and %d", got, p.put, p.added)
		}
	}
	return got, p.window.Fence(p.ctx)
}

// compute does arithmetic on one goroutine and calls nothing but the clock. It returns how
// many steps it made a millisecond.
func compute(length time.Duration) float64 {
	const stride = 1 << 14
	began, steps, x := time.Now(), 0, uint64(1)
	for time.Since(began) < length {
		for range stride {
			x = x*6364136223846793005 + 1442695040888963407
		}
		steps += stride
	}
	if x == 0 { // so that x is needed
		steps++
	}
	return float64(steps) / (time.Since(began).Seconds() * 1e3)
}

// sleep lets time pass without calling anything of the library.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
