package handshake

import (
	"container/list"
	"errors"
	"net"
	"sync"
)

const (
	// maxPending is how many connections may be open whose other end has not
	// proved the secret.
	maxPending = 128
	// fairShare is how many of them each stage may keep, whatever the others want.
	// All stages' shares are fewer than there is room for, so that one stage at
	// least has more than its share when there is no room.
	fairShare = maxPending / 4
)

var errDropped = errors.New("dropped for a newer connection")

// A stage is how far a connection has come.
type stage int

const (
	silent  stage = iota // it has said nothing
	spoke                // it has said something
	greeted              // it claims to be a rank of this job and version
	known                // it has proved the secret: not to be dropped
	gone
	stages = gone
)

// A ticket is a connection's place among the pending.
type ticket struct {
	all   *pending
	conn  *net.TCPConn
	ended chan struct{} // closed by its goroutine, as its last act

	stage stage         // guarded by all.mu
	place *list.Element // in all.at[stage]
}

// pending is the connections whose handshake is under way. Where there is no
// room the oldest is dropped for the newest: of those that have come least far,
// unless those are but their fair share. So strangers that come and say nothing
// drop each other and never a rank that has spoken, and strangers that claim to
// be ranks drop each other and never the rank that has just come; whatever they
// do, a rank's turn to speak is lost only to as many others as there is room for.
//
// Invariant: len(at[silent]) + len(at[spoke]) + len(at[greeted]) <= maxPending.
type pending struct {
	mu     sync.Mutex
	closed bool
	at     [stages]list.List // of *ticket, the oldest in front
	peak   int               // most unknown ones at once
}

// unknown is called with mu held.
func (p *pending) unknown() int {
	return p.at[silent].Len() + p.at[spoke].Len() + p.at[greeted].Len()
}

// enter gives conn a place. It returns nil when the listener is closed, and else
// the ticket for which the caller starts a goroutine; the caller then waits for
// the victim, if there is one.
func (p *pending) enter(conn *net.TCPConn) (t, victim *ticket) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, nil
	}
	if p.unknown() == maxPending {
		victim = p.victim()
		victim.remove()
	}
	t = &ticket{all: p, conn: conn, ended: make(chan struct{})}
	t.put(silent)
	p.peak = max(p.peak, p.unknown())
	return t, victim
}

// victim is called with mu held and no room left.
func (p *pending) victim() *ticket {
	s := silent
	for s < greeted && p.at[s].Len() <= fairShare {
		s++
	}
	return p.at[s].Front().Value.(*ticket)
}

// spoke, greeted and proved report that the connection has come so far, and
// return whether it may go on.
func (t *ticket) spoke() bool   { return t.advance(spoke) }
func (t *ticket) greeted() bool { return t.advance(greeted) }
func (t *ticket) proved() bool  { return t.advance(known) }

func (t *ticket) advance(to stage) bool {
	t.all.mu.Lock()
	defer t.all.mu.Unlock()
	if t.stage == gone || t.all.closed {
		return false
	}
	if t.stage < to {
		t.remove()
		t.put(to)
	}
	return true
}

// leave gives the place back. false: it was lost before, and with it the
// connection.
func (t *ticket) leave() bool {
	t.all.mu.Lock()
	defer t.all.mu.Unlock()
	if t.stage == gone || t.all.closed {
		return false
	}
	t.remove()
	return true
}

// put and remove are called with all.mu held.
func (t *ticket) put(s stage) {
	t.stage, t.place = s, t.all.at[s].PushBack(t)
}

func (t *ticket) remove() {
	t.all.at[t.stage].Remove(t.place)
	t.stage = gone
}

// end drops t, which lost its place, and waits until its goroutine has ended: so
// there are never more of them than places, however fast new ones come, and what
// is runnable runs before the next comes in.
func (t *ticket) end() {
	t.drop()
	<-t.ended
}

// drop closes the connection, which ends its goroutine. Nothing stays behind in
// the kernel either: it is reset.
func (t *ticket) drop() {
	// A connection that is broken already needs no more than Close.
	_ = t.conn.SetLinger(0)
	t.conn.Close()
}

// close drops all and lets nobody enter any more.
func (p *pending) close() {
	p.mu.Lock()
	p.closed = true
	var all []*ticket
	for s := range p.at {
		for e := p.at[s].Front(); e != nil; e = e.Next() {
			all = append(all, e.Value.(*ticket))
		}
	}
	p.mu.Unlock()
	for _, t := range all {
		t.drop()
	}
}
