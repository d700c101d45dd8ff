package credit

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// The model: a receive queue, and peers that come, send, and go. A message that is sent
// takes a posted buffer; there must be one. Later it is noticed, and is copied or stays;
// later the program takes it.

type fault int

const (
	none            fault = iota
	grantsFirst           // a buffer is granted before it is posted again
	neverCopies           // each message stays in its buffer
	takesCopies           // a copy counts as taken when it is made
	forgetsGone           // a peer that is gone keeps what it had
	goneTooEarly          // it is gone before all that it has sent was noticed
	ignoresTaken          // what is taken is granted to nobody
	ignoresArrivals       // what is copied is granted to nobody
	admitsPoorly          // a peer is admitted without a buffer that is posted for it
	faults
)

type sender struct {
	Peer
	sent   int // messages in buffers that were not noticed
	copies int // that the program has not taken
}

func (s *sender) kept() int { return s.held - s.out }

type world struct {
	fault
	Ledger
	strays  int // buffers of messages from peers that were gone already
	lost    int // credit granted for buffers that are not posted yet
	comings int // peers that may still come
	atOnce  int // at most
	most    int // peers there were at once, and those gone whose messages waited
	senders []sender
}

func (w *world) clone() *world {
	n := *w
	n.senders = slices.Clone(w.senders)
	return &n
}

// key is the state, with the peers in an order of their own.
func (w *world) key() string {
	all := make([][6]byte, len(w.senders))
	for i, s := range w.senders {
		all[i] = [6]byte{byte(s.out), byte(s.held), byte(s.copied), byte(s.copies), byte(s.sent)}
		if s.gone {
			all[i][5] = 1
		}
	}
	slices.SortFunc(all, func(a, b [6]byte) int { return bytes.Compare(a[:], b[:]) })
	key := []byte{byte(w.posted), byte(w.used), byte(w.peers), byte(w.strays), byte(w.lost), byte(w.comings), byte(w.most)}
	for i := range all {
		key = append(key, all[i][:]...)
	}
	return string(key)
}

// free is how many buffers a message can still take.
func (w *world) free() int {
	n := w.posted - w.strays - w.lost
	for i := range w.senders {
		n -= w.senders[i].kept() + w.senders[i].sent
	}
	return n
}

func (w *world) mayCome() bool { return w.comings > 0 && w.peers < w.atOnce }

func (w *world) admit() {
	w.comings--
	if n := w.Lacking(); w.fault != admitsPoorly {
		w.Posted(n)
	}
	w.senders = append(w.senders, sender{})
	w.Admit(&w.senders[len(w.senders)-1].Peer)
}

func (w *world) send(s *sender) error {
	if w.free() <= 0 {
		return errors.New("a message finds no buffer")
	}
	s.sent++
	return nil
}

func (w *world) notice(s *sender) {
	s.sent--
	if s.gone {
		w.strays--
		return
	}
	copied := w.Copies(&s.Peer) && w.fault != neverCopies
	w.Arrived(&s.Peer, copied)
	if !copied {
		return
	}
	s.copies++
	if w.fault == takesCopies {
		w.Taken(&s.Peer, true)
	}
	if w.fault != ignoresArrivals {
		w.Grant(&s.Peer)
	}
}

func (w *world) take(s *sender, copied bool) {
	if copied {
		s.copies--
	}
	if !copied || w.fault != takesCopies {
		w.Taken(&s.Peer, copied)
	}
	if w.fault == grantsFirst && !copied {
		w.lost++
	}
	if w.fault != ignoresTaken {
		w.Grant(&s.Peer)
	}
}

func (w *world) leave(s *sender) {
	w.strays += s.sent
	if w.fault == forgetsGone {
		s.gone = true
		return
	}
	w.Gone(&s.Peer)
}

// steps are the worlds one step on. A step that is not safe is an error.
func (w *world) steps() (all []*world, err error) {
	add := func(may bool, do func(n *world) error) {
		if n := w.clone(); may && err == nil {
			if err = do(n); err == nil {
				err = n.check()
			}
			all = append(all, n)
		}
	}
	add(w.lost > 0, func(n *world) error { n.lost--; return nil })
	add(w.mayCome(), func(n *world) error { n.admit(); return nil })
	for i := range w.senders {
		s := &w.senders[i]
		add(s.out > s.sent, func(n *world) error { return n.send(&n.senders[i]) })
		add(s.sent > 0, func(n *world) error { n.notice(&n.senders[i]); return nil })
		add(s.kept() > 0, func(n *world) error { n.take(&n.senders[i], false); return nil })
		add(s.copies > 0, func(n *world) error { n.take(&n.senders[i], true); return nil })
		add(!s.gone && (s.sent == 0 || w.fault == goneTooEarly), func(n *world) error { n.leave(&n.senders[i]); return nil })
	}
	return all, err
}

// check is what holds always.
func (w *world) check() error {
	used, live, waiting := 0, 0, 0
	for i := range w.senders {
		s := &w.senders[i]
		if s.gone {
			used += s.held
			waiting += min(s.held, 1)
			continue
		}
		live++
		used += max(s.held, w.Least)
		switch {
		case s.out < 0 || s.out > s.held || s.held+s.copies > w.Most:
			return fmt.Errorf("peer %d: %+v", i, s.Peer)
		case s.out == 0 && s.kept()+s.copies == 0:
			return fmt.Errorf("peer %d may never send again: %+v", i, s.Peer)
		case s.kept()+s.copies+s.sent == 0 && w.fault != goneTooEarly:
			if n := w.accepts(i); n < w.Full {
				return fmt.Errorf("peer %d: %d messages are accepted although nobody takes them", i, n)
			}
		}
	}
	w.most = max(w.most, live+waiting)
	if used != w.used || live != w.peers || used > w.posted || w.posted > w.Greatest(w.most) {
		return fmt.Errorf("%d peers use %d buffers of %d: %+v", live, used, w.posted, w.Ledger)
	}
	return nil
}

// accepts is how many messages of a peer are accepted with nobody taking any.
func (w *world) accepts(i int) (n int) {
	w = w.clone()
	for s := &w.senders[i]; s.out > 0 && n < w.Full; n++ {
		s.sent++
		w.notice(s)
	}
	return n
}

// explore returns how many states there are, and what is wrong in one of them.
func explore(f fault, l Limits, peers, atOnce int) (int, error) {
	start := &world{fault: f, Ledger: Ledger{Limits: l}, comings: peers, atOnce: atOnce}
	seen := map[string]bool{start.key(): true}
	for todo := []*world{start}; len(todo) > 0; {
		w := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		next, err := w.steps()
		if err != nil {
			return len(seen), fmt.Errorf("%w, after %+v", err, *w)
		}
		for _, n := range next {
			if k := n.key(); !seen[k] {
				seen[k] = true
				todo = append(todo, n)
			}
		}
	}
	return len(seen), nil
}

var small = []Limits{
	{Least: 1, Full: 2, Most: 3, Budget: 5},
	{Least: 1, Full: 1, Most: 2, Budget: 3},
	{Least: 2, Full: 3, Most: 4, Budget: 4},
	{Least: 1, Full: 2, Most: 4, Budget: 0},
}

func TestEveryOrder(t *testing.T) {
	for _, l := range small {
		for _, peers := range [][2]int{{3, 3}, {4, 2}} {
			n, err := explore(none, l, peers[0], peers[1])
			if err != nil {
				t.Errorf("%+v: %v", l, err)
			}
			t.Logf("%+v, %d peers, %d at once: %d states", l, peers[0], peers[1], n)
		}
	}
}

// Each mistake in carrying it out is found, so the model sees what it must see.
func TestFaultsAreFound(t *testing.T) {
	for f := none + 1; f < faults; f++ {
		var found error
		for _, l := range small {
			if _, err := explore(f, l, 3, 3); err != nil {
				found = err
				break
			}
		}
		if found == nil {
			t.Errorf("fault %d is not found", f)
		}
		t.Logf("fault %d: %v", f, found)
	}
}

// The limits in use, and many peers, in random orders.
func TestManyPeers(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := &world{Ledger: Ledger{Limits: Limits{Least: 2, Full: 8, Most: 16, Budget: 128}}, comings: 300, atOnce: 100}
		for range 3000 {
			if err := w.random(r); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
}

// random takes a step, mostly of a peer that sends much.
func (w *world) random(r *rand.Rand) error {
	if len(w.senders) == 0 || w.mayCome() && r.IntN(20) == 0 {
		w.admit()
		return w.check()
	}
	s := &w.senders[min(r.IntN(len(w.senders)), r.IntN(len(w.senders)))]
	switch k := r.IntN(100); {
	case k < 40 && s.out > s.sent:
		if err := w.send(s); err != nil {
			return err
		}
	case k < 70 && s.sent > 0:
		w.notice(s)
	case k < 98 && s.kept() > 0:
		w.take(s, false)
	case k < 98 && s.copies > 0:
		w.take(s, true)
	case k == 99 && !s.gone && s.sent == 0:
		w.leave(s)
	}
	return w.check()
}
