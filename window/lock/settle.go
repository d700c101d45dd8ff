package lock

// Under the latch: reading the queue and granting what can be granted.

func (m *Machine) startScan() step {
	m.i, m.left, m.grants = 0, 0, 0
	m.writer, m.first, m.reader = -1, noTicket, noTicket
	return scan
}

// scanned notes a slot. Slots that are announced from now on are missed; their
// owners find the latch held and come later.
func (m *Machine) scanned(slot uint64) step {
	m.seen = slot
	switch phaseOf(slot) {
	case announced:
		m.note(slot)
		return adopt
	case queued:
		m.note(slot)
	}
	return m.nextScan()
}

func (m *Machine) note(slot uint64) {
	m.left++
	t := ticketOf(slot)
	if modeOf(slot) == Shared {
		m.reader = min(m.reader, t)
	} else if t < m.first {
		m.first, m.writer = t, m.i
	}
}

func (m *Machine) adopt() Op {
	return Op{Do: Store, Word: Slot, Index: m.i, A: inPhase(m.seen, queued)}
}

func (m *Machine) adopted(uint64) step { return m.nextScan() }

func (m *Machine) nextScan() step {
	if m.i++; m.i < m.members {
		return scan
	}
	return m.decide()
}

// decide grants in the order of the tickets: the first writer if the lock is free
// and nobody came before it; every reader that came before the first writer if no
// writer holds the lock.
func (m *Machine) decide() step {
	switch {
	case m.held == 0 && m.first < m.reader:
		m.i = m.writer
		m.seen = slotOf(queued, Exclusive, m.first)
		return grantWriter
	case m.held&exclusive == 0 && m.reader < m.first:
		m.i = 0
		return pickReader
	}
	return settle
}

func (m *Machine) grantSlot() Op {
	return Op{Do: Store, Word: Slot, Index: m.i, A: inPhase(m.seen, granted)}
}

func (m *Machine) grantedWriter(uint64) step {
	m.held = owner(m.writer)
	m.countGrant()
	return settle
}

func (m *Machine) countGrant() {
	m.left--
	if m.i != m.me {
		m.grants++
	}
}

func (m *Machine) picked(slot uint64) step {
	if phaseOf(slot) == queued && modeOf(slot) == Shared && ticketOf(slot) < m.first {
		m.seen = slot
		return grantReader
	}
	return m.nextReader()
}

func (m *Machine) grantedReader(uint64) step {
	m.held++
	m.countGrant()
	return m.nextReader()
}

func (m *Machine) nextReader() step {
	if m.i++; m.i < m.members {
		return pickReader
	}
	return settle
}

func (m *Machine) storeState() Op {
	v := m.held
	if m.left > 0 {
		v |= contended
	}
	return Op{Do: Store, Word: State, A: v}
}

// Behind the latch: waking whom it concerns, so that nobody wakes up only to find
// the latch still held.

func (m *Machine) droppedLatch(old uint64) step {
	m.i = -1
	switch {
	case old&awaited != 0:
		return m.nextRing()
	case m.grants > 0:
		return m.nextGranted()
	}
	return m.afterLatch()
}

func (m *Machine) rang(uint64) step { return m.nextRing() }

func (m *Machine) nextRing() step {
	if m.advance() {
		return ringAll
	}
	return m.afterLatch()
}

// foundGranted rings everybody who still has to notice a grant. Some of them may
// have been granted the lock by somebody else: they look once more for nothing.
func (m *Machine) foundGranted(slot uint64) step {
	if phaseOf(slot) == granted {
		return ringGranted
	}
	return m.nextGranted()
}

func (m *Machine) nextGranted() step {
	if m.advance() {
		return findGranted
	}
	return m.afterLatch()
}

// advance moves i to the next other member, if there is one.
func (m *Machine) advance() bool {
	if m.i++; m.i == m.me {
		m.i++
	}
	return m.i < m.members
}

func (m *Machine) afterLatch() step {
	switch m.purpose {
	case Release:
		return m.end(Released)
	case withdraw:
		return m.end(Withdrawn)
	}
	return seeGrant
}

// Waiting for the grant.

func (m *Machine) sawGrant(slot uint64) step {
	if phaseOf(slot) == granted {
		return take
	}
	return awaitGrant
}

func (m *Machine) awaitedGrant(result uint64) step {
	if result == Woken {
		return take
	}
	m.purpose = withdraw
	return tryLatch
}
