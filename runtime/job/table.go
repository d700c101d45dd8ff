package job

import "fmt"

// Report records what became of a rank. A State never goes back; a report that
// would is ignored. code is the exit code, or minus the signal's number.
//
// When the rank is over, everybody is woken, because somebody may wait for it.
func (m *Memory) Report(rank int, s State, code int32) {
	l := lineOf(m.mem, rank)
	for {
		old := l.state.Load()
		if uint32(s) <= old {
			return
		}
		l.code.Store(code)
		if l.state.CompareAndSwap(old, uint32(s)) {
			break
		}
	}
	if !s.Over() {
		return
	}
	l.reserved.Store(0)
	headerOf(m.mem).changes.Add(1)
	m.RingAll()
}

// State returns a rank's state and, when it is over, its code as in Report.
func (m *Memory) State(rank int) (State, int32) {
	l := lineOf(m.mem, rank)
	return State(l.state.Load()), l.code.Load()
}

// Changes grows with every rank that is over. Whoever waits compares it with
// what it was and looks at the States only when it differs.
func (m *Memory) Changes() uint32 { return headerOf(m.mem).changes.Load() }

// Failure returns an error if nothing more is to be expected of rank, nil
// otherwise.
func (m *Memory) Failure(rank int) error {
	s, code := m.State(rank)
	if !s.Over() {
		return nil
	}
	return &RankFailedError{Rank: rank, Cause: Describe(s, code)}
}

// SetAddress publishes what the ranks of this host need to reach rank's endpoint.
// It is called once, by that rank.
func (m *Memory) SetAddress(rank int, address []byte) error {
	if len(address) == 0 || len(address) > MaxAddress {
		return fmt.Errorf("rank %d: address of %d bytes: want 1 to %d", rank, len(address), MaxAddress)
	}
	l := lineOf(m.mem, rank)
	copy(l.address[:], address)
	l.addressLen.Store(uint32(len(address)))
	return nil
}

// Address returns what a rank has published, nil if it has not yet.
func (m *Memory) Address(rank int) []byte {
	l := lineOf(m.mem, rank)
	n := min(l.addressLen.Load(), MaxAddress)
	return append([]byte(nil), l.address[:n]...)
}
