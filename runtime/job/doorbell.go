package job

import "github.com/golaunch/golaunch/runtime/futex"

// Ring wakes a rank if it sleeps. For a rank that is awake it costs one load of
// a cache line that rarely changes. A rank of another host never sleeps here:
// ringing it does nothing.
//
// Precondition: what the rank is to see was stored atomically before.
func (m *Memory) Ring(rank int) {
	if lineOf(m.mem, rank).asleep.Load() != 0 {
		m.ring(rank)
	}
}

func (m *Memory) ring(rank int) {
	l := lineOf(m.mem, rank)
	l.bell.Add(1)
	if m.bells == nil {
		futex.Wake(&l.bell)
		return
	}
	select {
	case m.bells[rank] <- struct{}{}:
	default: // a wake-up is already on its way
	}
}

// RingAll wakes every rank that sleeps.
func (m *Memory) RingAll() {
	for rank := range m.size {
		m.Ring(rank)
	}
}

// Drowse announces that rank is about to sleep and returns the ticket for Sleep.
// The caller checks between the two whether it still has to sleep, and calls
// Wake in any case.
func (m *Memory) Drowse(rank int) (ticket uint32) {
	l := lineOf(m.mem, rank)
	l.asleep.Store(1)
	return l.bell.Load()
}

// Sleep returns when the bell has been rung since the ticket was taken. It may
// return without that.
func (m *Memory) Sleep(rank int, ticket uint32) {
	l := lineOf(m.mem, rank)
	if m.bells == nil {
		futex.Wait(&l.bell, ticket)
		return
	}
	if l.bell.Load() == ticket {
		<-m.bells[rank]
	}
}

// Wake ends what Drowse began.
func (m *Memory) Wake(rank int) { lineOf(m.mem, rank).asleep.Store(0) }
