package main

import (
	"context"
	"fmt"

	"github.com/golaunch/golaunch/apps/peers/internal/report"
)

// A turn is one case of one round: a run of each contender, one right after the
// other.
type turn struct {
	records  []report.Record
	used     usage
	distance report.Distance // between the cores, before, between and after the runs
	failed   bool
}

// ended tells whether another try is of no use.
func (t turn) ended() bool { return t.failed || t.distance.Agrees() }

// counts tells whether a later try of a turn counts instead of the one that did so
// far: when the cores' distance changed less. It is not told what the contenders'
// figures are.
func counts(later, far report.Distance) bool { return later.Spread() < far.Spread() }

// take has every contender take its turn at a case. Where the cores came nearer each
// other or went apart meanwhile, the contenders had different machines, and all of
// them run again.
func (m *measuring) take(ctx context.Context, bc benchCase, round int) {
	var kept turn
	for try := range m.o.turns {
		again := m.try(ctx, bc, round)
		if ctx.Err() != nil {
			return
		}
		if again.distance.Measured() {
			fmt.Fprintf(m.progress, " (%v apart)", again.distance)
		}
		if try == 0 || counts(again.distance, kept.distance) {
			kept = again
		}
		if again.ended() {
			break
		}
	}
	for _, r := range kept.records {
		r.Round, r.Case, r.Distance = round, bc.name, kept.distance
		m.records = append(m.records, r)
	}
	m.total.add(kept.used)
}

// try runs a case once with every contender. Who goes first changes from round to
// round.
func (m *measuring) try(ctx context.Context, bc benchCase, round int) turn {
	var t turn
	m.look(bc, &t)
	for i := range m.all {
		c := m.all[(i+round-1)%len(m.all)]
		fmt.Fprintf(m.progress, " %s", c.name)
		records, used, err := m.run(ctx, c, bc)
		if err != nil {
			m.fail(&t, fmt.Errorf("round %d, %s, %s: %w", round, bc.name, c.name, err))
		}
		for _, r := range records {
			r.Peer = c.name
			t.records = append(t.records, r)
		}
		t.used.add(used)
		if ctx.Err() != nil {
			return t
		}
		m.look(bc, &t)
	}
	return t
}

// look adds the cores' present distance to the turn, where it matters: where each
// rank has a core, and time is what counts.
func (m *measuring) look(bc benchCase, t *turn) {
	if m.distance == nil || bc.ranks < 2 || bc.ranks > m.cores || bc.memory {
		return
	}
	ns, err := m.distance()
	if err != nil {
		m.fail(t, fmt.Errorf("the distance between cores: %w", err))
		return
	}
	t.distance = t.distance.With(ns)
}

func (m *measuring) fail(t *turn, err error) {
	fmt.Fprint(m.progress, " (failed)")
	t.failed = true
	m.failures = append(m.failures, err)
}
