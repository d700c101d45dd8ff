package lock

import "slices"

// tidy clears what a machine will set again before it reads it, so that states
// that differ in nothing else are one.
func tidy(m *Machine) {
	switch {
	case m.at < freeze:
		m.i, m.held, m.left, m.writer, m.first, m.reader, m.grants = 0, 0, 0, 0, 0, 0, 0
		if m.at != markLatch {
			m.seen = 0
		}
	case m.at >= seeGrant:
		m.i, m.grants = 0, 0
		fallthrough
	case m.at >= dropLatch:
		m.held, m.left, m.writer, m.first, m.reader, m.seen = 0, 0, 0, 0, 0, 0
	case m.at == scan, m.at == pickReader, m.at == settle:
		m.seen = 0
	}
	if m.at >= settle {
		m.first, m.reader, m.writer = 0, 0, 0
	}
	if m.at > announce {
		m.ticket = 0
	}
}

// canonical renumbers the tickets, keeping their order.
func (w *model) canonical() {
	live := make([]uint64, 0, 16)
	w.eachTicket(func(t uint64) uint64 { live = append(live, t); return t })
	slices.Sort(live)
	live = slices.Compact(live)
	w.eachTicket(func(t uint64) uint64 { i, _ := slices.BinarySearch(live, t); return uint64(i) })
}

func (w *model) eachTicket(f func(uint64) uint64) {
	w.ticket = f(w.ticket)
	for i := range w.n {
		slotTicket(&w.slot[i], f)
		m := &w.members[i].m
		switch {
		case m.at == announce:
			m.ticket = f(m.ticket)
		case m.at == adopt, m.at == grantReader, m.at == grantWriter:
			slotTicket(&m.seen, f)
			fallthrough
		case m.at == scan, m.at == pickReader, m.at == clearOwn:
			limit(&m.first, f)
			limit(&m.reader, f)
		}
	}
}

func slotTicket(slot *uint64, f func(uint64) uint64) {
	if phaseOf(*slot) != empty {
		*slot = slotOf(phaseOf(*slot), modeOf(*slot), f(ticketOf(*slot)))
	}
}

func limit(t *uint64, f func(uint64) uint64) {
	if *t != noTicket {
		*t = f(*t)
	}
}

// encode appends everything that tells w from other states; numbers are small in a
// canonical model, except for the bits on top of them.
func (w *model) encode(to []byte) []byte {
	to = append(to, fold(w.state), fold(w.latch), byte(w.ticket), byte(w.crashes))
	for i := range w.n {
		me := &w.members[i]
		m := &me.m
		to = append(to, fold(w.slot[i]), byte(me.doing), byte(me.mode)<<2|byte(me.nap)<<1|bit(me.rung), byte(me.requests), byte(me.cancels),
			byte(m.at), byte(m.purpose)<<2|byte(m.mode), byte(m.ticket), fold(m.seen), byte(m.i), fold(m.held), byte(m.left), byte(m.writer),
			byte(m.first), byte(m.reader), byte(m.grants))
		for j := range w.n {
			to = append(to, byte(me.passed[j])<<1|bit(me.announced[j]))
		}
	}
	return to
}

// fold makes a byte of a word whose middle bits are zero.
func fold(v uint64) byte { return byte(v) | byte(v>>56) }

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}
