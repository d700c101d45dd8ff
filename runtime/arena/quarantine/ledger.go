package quarantine

import "slices"

// A Ledger is what one rank knows of its holds, by their names, and of the extents
// they keep. Names are not used twice. The zero Ledger is empty.
//
// Invariants:
//
//	an open hold waits for at least one rank, and for none that is gone
//	an extent is kept exactly while one of the holds it was freed under is open
type Ledger[Name comparable, Extent any] struct {
	open  map[Name]*hold[Extent]
	early map[Name][]int // who has confirmed a hold that is not open yet
	gone  map[int]bool
}

// A hold is open.
type hold[Extent any] struct {
	wide    bool
	waits   map[int]bool // for these ranks
	keeping []*kept[Extent]
}

// kept is a freed extent.
type kept[Extent any] struct {
	extent Extent
	holds  int // that keep it: more than 0
}

// Open begins a hold of the given ranks. One that all of them have confirmed
// already, or that has no ranks, is over at once. A wide one keeps whatever is
// freed from now on.
func (l *Ledger[Name, Extent]) Open(name Name, ranks []int, wide bool) {
	if l.open == nil {
		l.open = map[Name]*hold[Extent]{}
	}
	h := &hold[Extent]{wide: wide, waits: map[int]bool{}}
	for _, rank := range ranks {
		if !l.gone[rank] {
			h.waits[rank] = true
		}
	}
	for _, rank := range l.early[name] {
		delete(h.waits, rank)
	}
	delete(l.early, name)
	if len(h.waits) > 0 {
		l.open[name] = h
	}
}

// Free takes an extent that its owner has freed. It is kept if the hold it was
// given out under is open (that of a name that is not known is over), or any wide
// one is. false: it may be used again now.
func (l *Ledger[Name, Extent]) Free(e Extent, under Name) bool {
	k := &kept[Extent]{extent: e}
	for name, h := range l.open {
		if h.wide || name == under {
			h.keeping = append(h.keeping, k)
			k.holds++
		}
	}
	return k.holds > 0
}

// Confirm notes that a rank touches nothing any more that it could under a hold. It
// returns the extents that nobody holds now.
func (l *Ledger[Name, Extent]) Confirm(name Name, rank int) (released []Extent) {
	if h := l.open[name]; h != nil {
		return l.settle(name, h, rank)
	}
	l.expect(name, rank)
	return nil
}

// maxEarly is how many holds may be confirmed before they are opened. They are as many
// as broke at other ranks and not here, yet. What is forgotten beyond that is kept
// until its rank is gone.
const maxEarly = 1024

// expect notes a confirmation of a hold that is not open.
func (l *Ledger[Name, Extent]) expect(name Name, rank int) {
	if l.early == nil {
		l.early = map[Name][]int{}
	}
	known := l.early[name]
	if known == nil && len(l.early) == maxEarly || l.gone[rank] || slices.Contains(known, rank) {
		return
	}
	l.early[name] = append(known, rank)
}

// Gone notes that nothing of a rank can arrive any more. It returns the extents
// that nobody holds now.
func (l *Ledger[Name, Extent]) Gone(rank int) (released []Extent) {
	if l.gone == nil {
		l.gone = map[int]bool{}
	}
	l.gone[rank] = true
	for name, h := range l.open {
		released = append(released, l.settle(name, h, rank)...)
	}
	return released
}

// settle takes a rank off an open hold.
func (l *Ledger[Name, Extent]) settle(name Name, h *hold[Extent], rank int) (released []Extent) {
	delete(h.waits, rank)
	if len(h.waits) > 0 {
		return nil
	}
	delete(l.open, name)
	for _, k := range h.keeping {
		if k.holds--; k.holds == 0 {
			released = append(released, k.extent)
		}
	}
	return released
}

// Idle reports whether no hold is open: nothing is kept then, nor would be.
func (l *Ledger[Name, Extent]) Idle() bool { return len(l.open) == 0 }

// Waits returns the ranks that any hold waits for, each once.
func (l *Ledger[Name, Extent]) Waits() []int {
	var ranks []int
	seen := map[int]bool{}
	for _, h := range l.open {
		for rank := range h.waits {
			if !seen[rank] {
				seen[rank] = true
				ranks = append(ranks, rank)
			}
		}
	}
	return ranks
}
