package lock

// step is a place in a slow path: the access that comes next.
type step uint8

const (
	done step = iota
	drawTicket
	announce
	tryLatch
	lookLatch
	markLatch
	awaitLatch
	seeAdopted
	freeze
	seeOwn
	clearOwn
	scan
	adopt
	grantWriter
	pickReader
	grantReader
	settle
	dropLatch
	ringAll
	findGranted
	ringGranted
	seeGrant
	awaitGrant
	take
	stepCount
)

// steps is the protocol: what each step accesses, and which step follows the
// access's result.
var steps = [stepCount]struct {
	name   string
	access func(m *Machine) Op
	then   func(m *Machine, result uint64) step
}{
	drawTicket: {"draw a ticket", accessTicket, func(m *Machine, old uint64) step { m.ticket = old; return announce }},
	announce:   {"announce the request", (*Machine).storeRequest, goTo(tryLatch)},

	tryLatch:   {"try the latch", (*Machine).tryLatch, (*Machine).triedLatch},
	lookLatch:  {"look at the latch", load(Latch), (*Machine).lookedAtLatch},
	markLatch:  {"mark the latch awaited", (*Machine).markLatch, (*Machine).markedLatch},
	awaitLatch: {"wait for the latch", await(Latch), (*Machine).awaitedLatch},
	seeAdopted: {"see whether the request was queued", (*Machine).loadOwn, (*Machine).sawAdopted},

	freeze:   {"freeze the state", func(*Machine) Op { return Op{Do: Or, Word: State, A: contended} }, (*Machine).froze},
	seeOwn:   {"see whether the request was granted", (*Machine).loadOwn, (*Machine).sawOwn},
	clearOwn: {"leave the queue", (*Machine).clearOwn, goTo(scan)},

	scan:        {"read a slot", (*Machine).loadSlot, (*Machine).scanned},
	adopt:       {"queue an announced request", (*Machine).adopt, (*Machine).adopted},
	grantWriter: {"grant the lock to the first writer", (*Machine).grantSlot, (*Machine).grantedWriter},
	pickReader:  {"look for a reader", (*Machine).loadSlot, (*Machine).picked},
	grantReader: {"grant the lock to a reader", (*Machine).grantSlot, (*Machine).grantedReader},
	settle:      {"store the state", (*Machine).storeState, goTo(dropLatch)},

	dropLatch:   {"leave the latch", func(*Machine) Op { return Op{Do: Swap, Word: Latch} }, (*Machine).droppedLatch},
	ringAll:     {"ring a member", ring, (*Machine).rang},
	findGranted: {"look for a granted member", (*Machine).loadSlot, (*Machine).foundGranted},
	ringGranted: {"ring a granted member", ring, func(m *Machine, _ uint64) step { return m.nextGranted() }},

	seeGrant:   {"see whether the lock was granted", (*Machine).loadOwn, (*Machine).sawGrant},
	awaitGrant: {"wait for the lock", await(Slot), (*Machine).awaitedGrant},
	take:       {"take the lock", (*Machine).clearOwn, func(m *Machine, _ uint64) step { return m.end(Acquired) }},
}

func goTo(s step) func(*Machine, uint64) step {
	return func(*Machine, uint64) step { return s }
}

func load(w Word) func(*Machine) Op { return func(*Machine) Op { return Op{Do: Load, Word: w} } }
func await(w Word) func(*Machine) Op {
	return func(m *Machine) Op { return Op{Do: Await, Word: w, Index: m.me} }
}
func ring(m *Machine) Op       { return Op{Do: Ring, Index: m.i} }
func accessTicket(*Machine) Op { return Op{Do: Add, Word: Ticket, A: 1} }

func (m *Machine) loadOwn() Op { return Op{Do: Load, Word: Slot, Index: m.me} }
func (m *Machine) clearOwn() Op {
	return Op{Do: Store, Word: Slot, Index: m.me, A: slotOf(empty, Shared, 0)}
}
func (m *Machine) loadSlot() Op { return Op{Do: Load, Word: Slot, Index: m.i} }

func (m *Machine) storeRequest() Op {
	return Op{Do: Store, Word: Slot, Index: m.me, A: slotOf(announced, m.mode, m.ticket)}
}

// Entering the latch.

func (m *Machine) tryLatch() Op { return Op{Do: Compare, Word: Latch, A: 0, B: latchedBy(m.me)} }

func (m *Machine) triedLatch(ok uint64) step {
	switch {
	case ok == 0:
		return lookLatch
	case m.purpose == hold:
		return m.end(Acquired)
	}
	return freeze
}

func (m *Machine) lookedAtLatch(v uint64) step {
	m.seen = v
	switch {
	case v == 0:
		return tryLatch
	case v&awaited != 0:
		return awaitLatch
	}
	return markLatch
}

func (m *Machine) markLatch() Op {
	return Op{Do: Compare, Word: Latch, A: m.seen, B: m.seen | awaited}
}

func (m *Machine) markedLatch(ok uint64) step {
	if ok == 0 {
		return lookLatch
	}
	return awaitLatch
}

func (m *Machine) awaitedLatch(result uint64) step {
	switch {
	case result == Lost:
		return m.end(Poisoned)
	case m.purpose != Request:
		return tryLatch
	case result == Cancelled:
		m.purpose = withdraw
		return tryLatch
	}
	return seeAdopted
}

// sawAdopted: whoever had the latch may have queued the request, so that there is
// nothing to do under the latch any more.
func (m *Machine) sawAdopted(slot uint64) step {
	if phaseOf(slot) == announced {
		return tryLatch
	}
	return m.sawGrant(slot)
}

// Under the latch: the edit.

func (m *Machine) froze(old uint64) step {
	m.held = old &^ contended
	switch m.purpose {
	case withdraw:
		return seeOwn
	case Release:
		m.held = without(m.held, m.mode, m.me)
	}
	return m.startScan()
}

func (m *Machine) sawOwn(slot uint64) step {
	if phaseOf(slot) == granted {
		m.held = without(m.held, m.mode, m.me)
	}
	m.startScan()
	return clearOwn
}
