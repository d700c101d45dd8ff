package messages

import (
	"sync/atomic"

	"github.com/golaunch/golaunch/runtime/crossmem"
	"github.com/golaunch/golaunch/runtime/rendezvous"
)

// words are this rank's, for the messages it sends.
type words struct {
	m    *Messages
	free []*word
	held []*word // ended here; the receiver has not let go of them yet
	mem  [][]byte
}

// slabWords is how many are made at once. With the first come the stages: a receiver
// that has mapped such a word has mapped them, too.
const slabWords = 16

// take returns a fresh word. Called with mu held.
func (s *words) take() (*word, error) {
	if len(s.free) == 0 {
		s.collect()
	}
	if len(s.free) == 0 {
		if err := s.grow(); err != nil {
			return nil, err
		}
	}
	last := len(s.free) - 1
	w := s.free[last]
	s.free = s.free[:last]
	generation := (rendezvous.State(w.state.Load()).Generation() + 1) % rendezvous.Generations
	w.total, w.opened, w.helps = 0, false, false
	w.fields[cardAt], w.fields[cardAt+1], w.fields[cardAt+2] = s.m.card()
	w.state.Store(uint64(rendezvous.Fresh(generation)))
	return w, nil
}

// collect finds the words that receivers have let go of.
func (s *words) collect() {
	kept := s.held[:0]
	for _, w := range s.held {
		if w.load().Released() {
			s.free = append(s.free, w)
		} else {
			kept = append(kept, w)
		}
	}
	clear(s.held[len(kept):])
	s.held = kept
}

func (s *words) grow() error {
	size := slabWords * wordBytes
	if len(s.mem) == 0 {
		size += stageCount * stageSize
	}
	mem, err := s.m.cfg.Memory.Alloc(size)
	if err != nil {
		return err
	}
	place, ok := s.m.cfg.Memory.Locate(mem)
	if !ok || !aligned(mem) {
		return errNotShared
	}
	s.mem = append(s.mem, mem)
	part := func(at, n int) ([]byte, rendezvous.Place) {
		return mem[at:][:n], rendezvous.Place{Key: place.Key, Offset: place.Offset + int64(at), Len: int64(n)}
	}
	at := 0
	for ; at < slabWords*wordBytes; at += wordBytes {
		s.free = append(s.free, wordOver(part(at, wordBytes)))
	}
	for ; at < size; at += stageSize {
		s.m.stages.add(stageOver(part(at, stageSize)))
	}
	return nil
}

// give takes a word back. The receiver may still look at it.
func (s *words) give(w *word) {
	if w.load().Released() {
		s.free = append(s.free, w)
	} else {
		s.held = append(s.held, w)
	}
}

// card says how other processes reach this one's memory.
func (m *Messages) card() (pid, at, value uint64) {
	address, value := m.token.Place()
	return m.pid, uint64(address), value
}

func (w *word) load() rendezvous.State { return rendezvous.State(w.state.Load()) }

func (w *word) swap(old, next rendezvous.State) bool {
	return w.state.CompareAndSwap(uint64(old), uint64(next))
}

// change applies a step that always does something or nothing.
func (w *word) change(step func(rendezvous.State, int) rendezvous.State) {
	for {
		old := w.load()
		next := step(old, w.total)
		if next == old || w.swap(old, next) {
			return
		}
	}
}

// stirs reports whether there is something to do or to learn.
func (w *word) stirs() bool {
	s := w.load()
	if !w.opened {
		return s.Opened() || s.Outcome(0) != rendezvous.Pending
	}
	if w.helps {
		if _, _, ok := s.Claim(w.total); ok {
			return true
		}
	}
	return s.Outcome(w.total) != rendezvous.Pending
}

// claim takes a piece.
func (w *word) claim() (piece int, ok bool) {
	for {
		old := w.load()
		next, piece, ok := old.Claim(w.total)
		if !ok || w.swap(old, next) {
			return piece, ok
		}
	}
}

func (w *word) finish(copied bool) {
	for {
		old := w.load()
		if w.swap(old, old.Finish(copied)) {
			return
		}
	}
}

func (w *word) release() {
	for {
		old := w.load()
		if w.swap(old, old.Release()) {
			return
		}
	}
}

// match takes the word for a receive. false: the message was withdrawn.
func (w *word) match(generation uint32) bool {
	return w.try(func(s rendezvous.State) (rendezvous.State, bool) { return s.Match(generation) })
}

// open lets pieces be claimed. false: the message was withdrawn.
func (w *word) open() bool {
	w.opened = w.try(rendezvous.State.Open)
	return w.opened
}

// try applies a step that may be refused.
func (w *word) try(step func(rendezvous.State) (rendezvous.State, bool)) bool {
	for {
		old := w.load()
		next, ok := step(old)
		if !ok || w.swap(old, next) {
			return ok
		}
	}
}

// A reach is whether this process may touch another rank's memory: nil as long as
// nobody has asked.
type reach struct{ known atomic.Pointer[answer] }

type answer struct{ peer *crossmem.Peer } // nil: it may not

// peer returns the process with a card if this one may touch its memory, nil
// otherwise. It is asked by a read, once.
func (m *Messages) peer(rank int, card []uint64) *crossmem.Peer {
	known := &m.reach[rank].known
	if a := known.Load(); a != nil {
		return a.peer
	}
	p := crossmem.NewPeer(int(card[0]))
	a := &answer{}
	if !m.cfg.Blind && p.Probe(crossmem.Address(card[1]), card[2]) == nil {
		a.peer = &p
	}
	known.Store(a)
	return a.peer
}
