package coherence

import (
	"errors"
	"fmt"
)

// What must hold in every state of the world. H is the set of hosts that have not
// fenced themselves; h, g range over it.
var invariants = []struct {
	name, algebra string
	holds         func(l *lab, w *world) bool
}{
	{"one writer", "open(h) => memory(g) = hole for every g != h", oneWriter},
	{"no stale copy", "memory(h) ∈ {hole, what was last written}", noStaleCopy},
	{"views obey", "memory(h) != hole <=> state(h) readable;  open(h) <=> state(h) writable", viewsObey},
	{"directory covers", "memory(h) != hole or a grant is on its way to h  =>  h ∈ sharers", directoryCovers},
	{"home stores", "not busy, sharers != ∅, home ∉ sharers  =>  |sharers| = 1", homeStores},
	{"content survives", "somebody has what was last written, or a message has it, or the page is untouched, or it is lost", contentSurvives},
	{"one request", "state(h) pending  <=>  h has one request, or one answer, in a wire or at the home", oneRequest},
	{"one demand", "h ∈ awaited  <=>  one demand or acknowledgement of h is in a wire or put off", oneDemand},
	{"holds end", "held(h) <=> one HoldOver of h is outstanding;  held(h) => state(h) readable;  demand put off => held(h)", holdsEnd},
	{"wants are pending", "wanted(h) => state(h) pending", wantsArePending},
}

func (l *lab) check(w *world) error {
	for _, i := range invariants {
		if l.looksAt(i.name) && !i.holds(l, w) {
			return broken(i.name, errors.New(i.algebra))
		}
	}
	return nil
}

func (l *lab) looksAt(property string) bool { return l.only == "" || l.only == property }

// all tells whether every host that has not fenced itself is as it should be.
func (w *world) all(right func(i uint8, s *side) bool) bool {
	for i := range w.n {
		if s := &w.sides[i]; !s.fenced && !right(i, s) {
			return false
		}
	}
	return true
}

func oneWriter(_ *lab, w *world) bool {
	copies, writers := 0, 0
	w.all(func(_ uint8, s *side) bool {
		if s.memory != NoData {
			copies++
		}
		if s.open {
			writers++
		}
		return true
	})
	return writers == 0 || copies == 1
}

func noStaleCopy(_ *lab, w *world) bool {
	return w.all(func(_ uint8, s *side) bool { return s.memory != stale })
}

func viewsObey(_ *lab, w *world) bool {
	return w.all(func(_ uint8, s *side) bool {
		return s.entry.state.Readable() == (s.memory != NoData) && s.entry.state.Writable() == s.open
	})
}

func directoryCovers(l *lab, w *world) bool {
	home, is := l.home(w)
	if !is || w.sides[home].fenced {
		return true
	}
	d := &w.sides[home]
	return w.all(func(i uint8, s *side) bool {
		has := s.memory != NoData || w.wires[home][i].count(GrantRead, GrantWrite) > 0
		return !has || d.sharers != lost && d.sharers.has(i)
	})
}

func homeStores(l *lab, w *world) bool {
	home, is := l.home(w)
	if !is || w.sides[home].fenced {
		return true
	}
	d := &w.sides[home]
	return d.busy || d.sharers == 0 || d.sharers == lost || d.sharers.has(home) || d.sharers.count() == 1
}

func contentSurvives(l *lab, w *world) bool {
	home, is := l.home(w)
	if !is {
		return true
	}
	d := &w.sides[home]
	if d.fenced || d.sharers == lost || d.sharers == 0 && !d.busy || d.busy && d.dead.has(d.tr.by.host) {
		return true // or is about to be lost: all others have given it up for a host that died
	}
	for i := range w.n { // who has died with the page, before the home has heard of it
		if w.sides[i].fenced && !d.dead.has(i) {
			return true
		}
	}
	there := false
	w.contents(func(v *Data) { there = there || *v == fresh })
	return there
}

// count counts messages of some kinds in a wire.
func (x *wire) count(kinds ...Kind) (n int) {
	for _, p := range x.packets[:x.n] {
		for _, k := range kinds {
			if p.kind == k {
				n++
			}
		}
	}
	return n
}

func oneRequest(l *lab, w *world) bool {
	home, is := l.home(w)
	if w.sides[0].fenced || is && w.sides[home].fenced {
		return true
	}
	return w.all(func(i uint8, s *side) bool {
		n := 0
		for j := range w.n {
			n += w.wires[i][j].count(Read, Write, Upgrade, Locate)
			n += w.wires[j][i].count(GrantRead, GrantWrite, Lost)
			if early := j == home && i == home; !early && !knowsHome(l, s) {
				n += w.wires[j][i].count(Located)
			}
		}
		if is {
			n += w.sides[home].requestsOf(i)
		}
		return (n == 1) == s.entry.state.pending() && n <= 1
	})
}

// knowsHome: the word of the registrar that comes after another's request is no answer.
func knowsHome(l *lab, s *side) bool { return !l.firstTouch || s.entry.home != 0 }

func (s *side) requestsOf(i uint8) (n int) {
	if !s.busy {
		return 0
	}
	if s.tr.by.host == i {
		n++
	}
	for _, r := range s.tr.queue[:s.tr.queued] {
		if r.host == i {
			n++
		}
	}
	return n
}

func oneDemand(l *lab, w *world) bool {
	home, is := l.home(w)
	if !is || w.sides[home].fenced {
		return true
	}
	d := &w.sides[home]
	return w.all(func(i uint8, s *side) bool {
		n := w.wires[home][i].count(Invalidate, Recall, Fetch) + w.wires[i][home].count(InvalidateAck, FetchAck)
		if s.entry.demand != None {
			n++
		}
		return (n == 1) == (d.busy && d.tr.awaited.has(i)) && n <= 1
	})
}

func holdsEnd(_ *lab, w *world) bool {
	return w.all(func(_ uint8, s *side) bool {
		isHeld := s.entry.flags&held != 0
		return isHeld == (s.timers == 1) && s.timers <= 1 && (!isHeld || s.entry.state.Readable()) && (s.entry.demand == None || isHeld)
	})
}

func wantsArePending(_ *lab, w *world) bool {
	return w.all(func(_ uint8, s *side) bool { return s.entry.flags&wanted == 0 || s.entry.state.pending() })
}

// checkQueue: whoever waits at the home comes nearer, never farther.
func checkQueue(w, next *world) error {
	for i := range w.n {
		a, b := &w.sides[i], &next.sides[i]
		for j := range w.n {
			was, is := a.place(j), b.place(j)
			if was > 0 && is > was {
				return broken("first come first served", fmt.Errorf("host %d was %d in the queue and is %d", j, was, is))
			}
		}
	}
	return nil
}

// place is 1 for whom the home serves, 2 for who is next, 0 for who is not there.
func (s *side) place(host uint8) int {
	if !s.busy {
		return 0
	}
	if s.tr.by.host == host {
		return 1
	}
	for i, r := range s.tr.queue[:s.tr.queued] {
		if r.host == host {
			return i + 2
		}
	}
	return 0
}

// checkQuiet: when nothing can happen by itself, nobody waits.
func checkQuiet(w *world) error {
	for i := range w.n {
		if s := &w.sides[i]; !s.fenced && (s.busy || s.entry.state.pending() || s.entry.demand != None) {
			return broken("no deadlock", fmt.Errorf("nothing is under way, and host %d waits", i))
		}
	}
	return nil
}
