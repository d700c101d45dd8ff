package job

import "fmt"

// Report records what became of a rank. A State never goes back; a report that
// would is ignored. code is the exit code, minus the signal's number,
// CodeHostLost or CodeNotStarted.
//
// When the rank is over, everybody is woken, because somebody may wait for it.
func (m *Memory) Report(rank int, s State, code int32) {
	fate := &lineOf(m.mem, rank).fate
	for {
		old := fate.Load()
		if s <= State(old>>32) {
			return
		}
		if fate.CompareAndSwap(old, uint64(s)<<32|uint64(uint32(code))) {
			break
		}
	}
	if s.Over() {
		m.RingAll()
	}
}

// State returns a rank's state and, when it is over, its code as in Report.
func (m *Memory) State(rank int) (State, int32) {
	fate := lineOf(m.mem, rank).fate.Load()
	return State(fate >> 32), int32(uint32(fate))
}

// Failure returns an error if nothing more is to be expected of rank, nil
// otherwise.
func (m *Memory) Failure(rank int) error {
	s, code := m.State(rank)
	if !s.Over() {
		return nil
	}
	return m.FailureBy(rank, Describe(s, code))
}

// FailureBy is a rank's failure by a cause that this process was told.
func (m *Memory) FailureBy(rank int, cause string) *RankFailedError {
	return &RankFailedError{Rank: rank, Host: m.nameOf(rank), Cause: cause}
}

// SetAddress publishes what the ranks of this host need to reach rank's endpoint,
// and wakes them, because somebody may wait for it. It is called once for a rank:
// by itself, or by the supervisor that heard of it.
func (m *Memory) SetAddress(rank int, address []byte) error {
	if len(address) == 0 || len(address) > MaxAddress {
		return fmt.Errorf("rank %d: address of %d bytes: want 1 to %d", rank, len(address), MaxAddress)
	}
	l := lineOf(m.mem, rank)
	copy(l.address[:], address)
	l.addressLen.Store(uint32(len(address)))
	m.RingAll()
	return nil
}

// Address returns what a rank has published, nil if it has not yet.
func (m *Memory) Address(rank int) []byte {
	l := lineOf(m.mem, rank)
	n := min(l.addressLen.Load(), MaxAddress)
	return append([]byte(nil), l.address[:n]...)
}

// HasAddress reports whether a rank has published an address.
func (m *Memory) HasAddress(rank int) bool { return lineOf(m.mem, rank).addressLen.Load() != 0 }
