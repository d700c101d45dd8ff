package coherence

import (
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"testing"
)

var (
	everyFault = []Kind{ReadFault, WriteFault, PrefetchRead, PrefetchWrite, Evict}
	plainFault = []Kind{ReadFault, WriteFault, Evict}
)

// Every reachable state is visited: any number of accesses, evictions and prefetches
// by every host, with messages of different hosts in any order.
func TestEveryOrder(t *testing.T) {
	soak := os.Getenv("GOLAUNCH_SOAK") != ""
	for _, c := range []struct {
		hosts      int
		firstTouch bool
		deaths     int
		faults     []Kind
		soak       bool
	}{
		{hosts: 2, faults: everyFault},
		{hosts: 2, faults: everyFault, firstTouch: true},
		{hosts: 2, faults: everyFault, deaths: 1},
		{hosts: 3, faults: everyFault},
		{hosts: 3, faults: everyFault, firstTouch: true},
		{hosts: 3, faults: plainFault, deaths: 1},
		{hosts: 3, faults: []Kind{WriteFault}, deaths: 1, firstTouch: true},
		{hosts: 4, faults: plainFault},
		{hosts: 3, faults: everyFault, deaths: 2, soak: true},
		{hosts: 3, faults: everyFault, deaths: 1, firstTouch: true, soak: true},
		{hosts: 4, faults: everyFault, soak: true},
		{hosts: 4, faults: plainFault, firstTouch: true, soak: true},
		{hosts: 4, faults: []Kind{ReadFault, WriteFault}, deaths: 1, soak: true},
	} {
		if c.soak && !soak {
			continue
		}
		t.Run(fmt.Sprintf("%d hosts, first touch %v, %d deaths, %v", c.hosts, c.firstTouch, c.deaths, c.faults), func(t *testing.T) {
			l := newLab(c.hosts, c.firstTouch, c.faults...)
			l.deaths = c.deaths
			states, err := l.explore()
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states", states)
		})
	}
}

type key [2]uint64

// explorer visits every state that can be reached.
type explorer struct {
	*lab
	coder *coder
	seeds [2]maphash.Seed
	seen  map[key]struct{}
	stack []world
}

func (l *lab) explore() (states int, err error) {
	x := &explorer{lab: l, coder: newCoder(l.n), seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, seen: map[key]struct{}{}}
	x.visit(l.start())
	var moves []move
	for len(x.stack) > 0 {
		w := x.stack[len(x.stack)-1]
		x.stack = x.stack[:len(x.stack)-1]
		moves = l.moves(&w, moves[:0])
		if err := x.expand(&w, moves); err != nil {
			return len(x.seen), err
		}
	}
	return len(x.seen), nil
}

func (x *explorer) visit(w world) {
	code := x.coder.code(&w)
	k := key{maphash.Bytes(x.seeds[0], code), maphash.Bytes(x.seeds[1], code)}
	if _, known := x.seen[k]; !known {
		x.seen[k] = struct{}{}
		x.stack = append(x.stack, w)
	}
}

// expand checks a state and everything that can happen next.
func (x *explorer) expand(w *world, moves []move) error {
	quiet := true
	for _, m := range moves {
		quiet = quiet && !m.own
		next := *w
		switch err := x.try(w, &next, m); {
		case err == nil:
			x.visit(next)
		case x.matters(err):
			return fmt.Errorf("%w\nafter %v in\n%v", err, m, *w)
		}
	}
	if err := checkQuiet(w); quiet && err != nil && x.matters(err) {
		return fmt.Errorf("%w\n%v", err, *w)
	}
	return nil
}

func (x *explorer) try(w, next *world, m move) error {
	if err := x.do(next, m); err != nil {
		return err
	}
	if err := x.check(next); err != nil {
		return err
	}
	return checkQueue(w, next)
}

// matters: when one property is looked at, worlds that break another one end quietly.
func (l *lab) matters(err error) bool {
	var b *brokenProperty
	return !errors.As(err, &b) || l.looksAt(b.name)
}
