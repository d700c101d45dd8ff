package messages

import (
	"context"

	"github.com/golaunch/golaunch/runtime/waiting"
)

// looks is how often a call polls before it asks the waiter for help: a few times
// what a message takes to come back from a peer that waits for it.
const looks = 100

// seats are the goroutines that wait for messages. One of them, the look-out, is
// in the rank's waiter; the others are parked. A goroutine that stops being the
// look-out wakes a parked one in its place.
type seats struct {
	lookOut bool // somebody is
	parked  []*Request
}

// A seat is a request's place among the parked.
type seat struct {
	turn  chan struct{} // one token for each time it is taken out of parked
	index int           // in parked, plus 1; 0: not there
}

// sit parks r. Called with mu held; the goroutine then receives from turn.
func (s *seats) sit(r *Request) chan struct{} {
	if r.seat.turn == nil {
		r.seat.turn = make(chan struct{}, 1)
	}
	s.parked = append(s.parked, r)
	r.seat.index = len(s.parked)
	return r.seat.turn
}

// leave takes r out of the parked and returns the channel that a token must go to,
// nil if r was not parked.
func (s *seats) leave(r *Request) chan struct{} {
	if r.seat.index == 0 {
		return nil
	}
	last := len(s.parked) - 1
	at := r.seat.index - 1
	s.parked[at] = s.parked[last]
	s.parked[at].seat.index = at + 1
	s.parked[last] = nil
	s.parked = s.parked[:last]
	r.seat.index = 0
	return r.seat.turn
}

// wake has r's goroutine look again, if it is parked. Called with mu held.
func (s *seats) wake(r *Request) {
	if turn := s.leave(r); turn != nil {
		turn <- struct{}{}
	}
}

// relieve makes a parked goroutine the next look-out. Called with mu held.
func (s *seats) relieve() {
	s.lookOut = false
	if last := len(s.parked) - 1; last >= 0 {
		s.wake(s.parked[last])
	}
}

// stir reports whether r's goroutine has something to look at.
func (r *Request) stir() bool {
	return r.over.Load() || r.hasWork()
}

func (r *Request) hasWork() bool {
	return r.todo.Load() || r.word != nil && r.word.stirs() || r.staged.stirs()
}

// glance polls for about as long as a peer that is waiting takes to answer.
func (m *Messages) glance(r *Request) bool {
	if !m.cfg.Spins {
		return false
	}
	for range looks {
		if m.cfg.Router.Poll(); r.stir() {
			return true
		}
	}
	return false
}

// await returns nil when r stirs, and an error when it has to be given up.
func (m *Messages) await(ctx context.Context, r *Request) error {
	if r.stir() || m.glance(r) {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.seats.lookOut {
		if over, err := m.park(ctx, r); over {
			return err
		}
	}
	if r.stir() {
		m.seats.relieve()
		return nil
	}
	m.seats.lookOut = true
	m.mu.Unlock()
	err := m.cfg.Until(ctx, (*lookOut)(r))
	m.mu.Lock()
	m.seats.relieve()
	return err
}

// park waits for a token, which may mean anything, or for ctx. If there is no
// look-out afterwards, r's goroutine becomes it, or wakes another one in its place
// when it has other things to do. Called with mu held, which it lets go meanwhile.
func (m *Messages) park(ctx context.Context, r *Request) (over bool, err error) {
	if r.stir() {
		return true, nil
	}
	turn := m.seats.sit(r)
	m.mu.Unlock()
	select {
	case <-turn:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	m.mu.Lock()
	if err != nil && m.seats.leave(r) == nil { // taken out meanwhile: the token is there
		<-turn
	}
	if err == nil {
		err = r.doomed()
	}
	over = err != nil || r.stir()
	if over && !m.seats.lookOut {
		m.seats.relieve()
	}
	return over, err
}

// A lookOut is a request as the condition that its goroutine waits for in the
// waiter, on behalf of the parked ones as well.
type lookOut Request

// Ready tells what the polling has brought.
func (l *lookOut) Ready() bool { return (*Request)(l).stir() }

// Err also looks for ranks that have failed, on behalf of the parked.
func (l *lookOut) Err() error {
	r := (*Request)(l)
	r.box.m.notice()
	return r.doomed()
}

// A loss is a rank from which nothing more will come, and all it had sent was
// delivered.
type loss struct {
	err  error
	died error // it has not left
}

// notice looks for ranks that are newly lost, and wakes the parked whose requests
// cannot end well any more. What such a rank had sent before is taken in first: a
// rank that sends and leaves has sent.
func (m *Messages) notice() {
	lost := m.newlyLost()
	if len(lost) == 0 && !m.closing.Load() {
		return
	}
	m.cfg.Router.Sweep()
	m.mu.Lock()
	defer m.mu.Unlock()
	for rank, l := range lost {
		m.lost[rank].CompareAndSwap(nil, l)
	}
	for i := len(m.seats.parked) - 1; i >= 0; i-- {
		if i < len(m.seats.parked) && m.seats.parked[i].doomed() != nil {
			m.seats.wake(m.seats.parked[i])
		}
	}
}

func (m *Messages) newlyLost() (lost map[int]*loss) {
	for rank := range m.lost {
		if m.lost[rank].Load() != nil || rank == m.cfg.Rank {
			continue
		}
		if err := m.cfg.Failure(rank); err != nil {
			if lost == nil {
				lost = map[int]*loss{}
			}
			lost[rank] = &loss{err: err, died: m.cfg.Died(rank)}
		}
	}
	return lost
}

// doomed returns why r can no longer end well, by what was noticed of ranks.
func (r *Request) doomed() error {
	m := r.box.m
	rank := r.world
	if rank < 0 {
		rank = r.from
	}
	switch {
	case r.stir():
		return nil
	case r.givenUp == nil && m.closing.Load():
		return m.closed
	case rank < 0:
		return r.box.deserted()
	}
	if l := m.lost[rank].Load(); l != nil {
		return l.err
	}
	return nil
}

// deserted returns why a receive from any rank has nothing to hope for: a member
// was lost, which may be the one that would have sent, or all others have left.
func (b *Box) deserted() error {
	var gone error
	hope := len(b.ranks) == 1
	for member, rank := range b.ranks {
		if member == b.me {
			continue
		}
		switch l := b.m.lost[rank].Load(); {
		case l == nil:
			hope = true
		case l.died != nil:
			return l.died
		default:
			gone = l.err
		}
	}
	if hope {
		return nil
	}
	return gone
}

var _ waiting.Condition = (*lookOut)(nil)
