package arena

// A HoldName names a hold (package quarantine) among those of this rank. It is not
// used twice. Names with Context 0 are nobody's.
type HoldName struct{ Context, Number uint64 }

// Hold begins a hold: the given ranks may touch memory of this one until each of
// them has confirmed, or is gone. Memory freed under that name meanwhile is not used
// again, nor given back to the kernel; with wide, no memory that is freed meanwhile
// is: for when it is not known which of it those ranks can touch.
func (a *Arena) Hold(name HoldName, ranks []int, wide bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.held.Open(name, ranks, wide)
	}
}

// Confirm notes that a rank refuses whatever it could do under a hold, and that all
// it had begun has arrived. It may come before Hold. It does not block, so a message's
// handler may call it.
func (a *Arena) Confirm(name HoldName, rank int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.unhold(a.held.Confirm(name, rank))
	}
}

// unhold makes blocks free that were quarantined. mu is held.
func (a *Arena) unhold(blocks []*block) {
	for _, b := range blocks {
		a.usage.Quarantined -= b.class.size
		a.putBack(b)
	}
}

// bury confirms for ranks that are gone. It is done only when memory is wanted:
// nobody has to watch for deaths.
func (a *Arena) bury() {
	a.mu.Lock()
	waits := a.held.Waits()
	a.mu.Unlock()
	for _, rank := range waits {
		if a.cfg.Gone == nil || !a.cfg.Gone(rank) {
			continue
		}
		a.mu.Lock()
		a.unhold(a.held.Gone(rank))
		a.mu.Unlock()
	}
}
