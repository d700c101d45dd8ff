package lock

import "math"

// Mode says with whom a lock may be held together.
type Mode uint8

const (
	// Shared: with other shared holders (MPI_LOCK_SHARED).
	Shared Mode = iota + 1
	// Exclusive: alone (MPI_LOCK_EXCLUSIVE).
	Exclusive
)

func (m Mode) String() string {
	switch m {
	case Shared:
		return "shared"
	case Exclusive:
		return "exclusive"
	}
	return "no lock mode"
}

// The state word without its contended bit says who holds the lock: 0 nobody, s
// that many readers, exclusive|m+1 the writer m.
//
// Invariant outside the latch: contended is set if and only if the queue is not
// empty, and while it is set only the latch's holder changes the word.
const (
	contended uint64 = 1 << 63
	exclusive uint64 = 1 << 62
)

// owner is the state of a lock that member holds exclusively.
func owner(member int) uint64 { return exclusive | uint64(member+1) }

// without is held after member has given up its hold.
func without(held uint64, mode Mode, member int) uint64 {
	if mode == Exclusive {
		return held ^ owner(member)
	}
	return held - 1
}

// The latch word is 0 or its holder (member+1), with awaited set when somebody
// waits for it to become 0.
const awaited uint64 = 1 << 63

func latchedBy(member int) uint64 { return uint64(member + 1) }

// latchHolder is the inverse of latchedBy, -1 when nobody holds the latch.
func latchHolder(latch uint64) int { return int(latch&^awaited) - 1 }

// A slot is a phase, a bit for the mode and the ticket.
//
// Its owner takes it from empty to announced, and from granted to empty. All other
// changes are made by the holder of the latch.
type phase uint64

const (
	empty     phase = iota
	announced       // announced; its owner is on its way to the latch
	queued          // in the queue
	granted         // its owner holds the lock
)

const (
	phaseBits        = 3
	slotMode  uint64 = 4
	ticketAt         = 3
	noTicket  uint64 = math.MaxUint64
)

func slotOf(p phase, mode Mode, ticket uint64) uint64 {
	v := uint64(p) | ticket<<ticketAt
	if mode == Exclusive {
		v |= slotMode
	}
	return v
}

func phaseOf(slot uint64) phase { return phase(slot & phaseBits) }

// inPhase is slot with another phase.
func inPhase(slot uint64, p phase) uint64 { return slot&^phaseBits | uint64(p) }

func modeOf(slot uint64) Mode {
	if slot&slotMode != 0 {
		return Exclusive
	}
	return Shared
}

func ticketOf(slot uint64) uint64 { return slot >> ticketAt }
