package handshake

import (
	"container/list"
	"errors"
	"net"
	"sync"
)

const (
	// maxSilent is how many connections may be open that have not yet said
	// anything that agrees with this rank.
	maxSilent = 96
	// maxGreeted is how many more may have said so without proving it.
	maxGreeted = 32
)

var errDropped = errors.New("dropped for a newer connection")

// A stage is how far a connection has come.
type stage int

const (
	silent  stage = iota // nobody knows what it is
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
// room the oldest of the same stage is dropped for a newer one: so strangers that
// come and say nothing drop each other, and a rank needs no more than to get its
// first frame in before as many others as there is room for have come behind it.
type pending struct {
	room [stages]int // 0: any number

	mu     sync.Mutex
	closed bool
	at     [stages]list.List // of *ticket, the oldest in front
	peak   int               // most unknown ones at once
}

func newPending() *pending {
	return &pending{room: [stages]int{silent: maxSilent, greeted: maxGreeted}}
}

// enter gives conn a place. It returns nil when the listener is closed, and else
// the ticket for which the caller starts a goroutine; the caller then waits for
// the victim, if there is one.
func (p *pending) enter(conn *net.TCPConn) (t, victim *ticket) {
	t = &ticket{all: p, conn: conn, ended: make(chan struct{}), stage: gone}
	victim, ok := p.move(t, silent)
	if !ok {
		return nil, nil
	}
	return t, victim
}

// greeted and proved report that the connection has come so far, and return
// whether it may go on.
func (t *ticket) greeted() bool { return t.advance(greeted) }
func (t *ticket) proved() bool  { return t.advance(known) }

func (t *ticket) advance(to stage) bool {
	victim, ok := t.all.move(t, to)
	victim.wait()
	return ok
}

// wait drops t, which lost its place, and waits until its goroutine has ended:
// so there are never more of them than places, however fast new ones come. A wait
// ends, because each is for one that had its place earlier than the waiting one.
func (t *ticket) wait() {
	if t != nil {
		t.drop()
		<-t.ended
	}
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

// move puts t at a stage and returns the one that has to be dropped for it. false:
// t itself was dropped before, or the listener closed.
func (p *pending) move(t *ticket, to stage) (victim *ticket, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fresh := to == silent
	if p.closed || (t.stage == gone && !fresh) {
		return nil, false
	}
	t.remove()
	if room := p.room[to]; room > 0 && p.at[to].Len() == room {
		victim = p.at[to].Front().Value.(*ticket)
		victim.remove()
	}
	t.stage, t.place = to, p.at[to].PushBack(t)
	p.peak = max(p.peak, p.at[silent].Len()+p.at[greeted].Len())
	return victim, true
}

// remove is called with all.mu held.
func (t *ticket) remove() {
	if t.stage != gone {
		t.all.at[t.stage].Remove(t.place)
		t.stage = gone
	}
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
