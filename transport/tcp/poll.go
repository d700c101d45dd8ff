package tcp

import (
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/runtime/relax"
	"github.com/golaunch/golaunch/transport"
)

// A poller is what Poll alone touches.
type poller struct {
	mu      sync.Mutex // held by Poll; there to keep Close from under it
	scratch []byte
	list    [maxDirect + maxEvents]*peer // first the direct sockets, as they were when seen changes
	direct  int
	seen    uint64
	same    int // Polls since then
	polls   uint64
	lent    atomic.Bool // the last Poll delivered messages from inboxes
	hands   hands
	events  [maxEvents]unix.EpollEvent
	unread  int // Polls since sockets were looked at
	empty   int // Polls in a row without anything
}

const (
	// pollsUnread is how many Polls may live on what is there already.
	pollsUnread = 4
	maxEvents   = 16
)

// Poll gives back what the last one delivered, reads sockets unless there is
// something already, and hands out what there is.
//
// It makes the system call that mostly finds nothing itself: see the package's comment.
func (e *endpoint) Poll(done []transport.Completion) (int, error) {
	x := &e.poll
	x.mu.Lock()
	defer x.mu.Unlock()
	if e.closed.Load() {
		return 0, fmt.Errorf("tcp: rank %d: Poll: %w", e.cfg.Rank, transport.ErrClosed)
	}
	if x.lent.Load() {
		e.giveBack()
	}
	if x.hands = (hands{done: done}); e.worthReading() {
		for _, p := range e.due() {
			if p.beginRead(&x.hands) {
				place, rest := p.aim(x.scratch[x.hands.full:])
				var n int
				var errno unix.Errno
				if place != nil {
					n, errno = recv2(p.fd, place, rest)
				} else {
					k, failure := recv(p.fd, rest)
					n, errno = int(k), failure
				}
				if errno != unix.EAGAIN {
					e.goOn(p, p.took(place, rest, n, errno))
				}
				p.endRead(&x.hands)
			}
		}
	}
	n := x.hands.n
	if e.arrivals.queued.Load() > 0 {
		n += e.takeQueued(done[n:])
	}
	if n > 0 {
		x.empty = 0
	}
	return n, nil
}

// worthReading tells whether to look at sockets, though there may be something
// already.
func (e *endpoint) worthReading() bool {
	if e.arrivals.queued.Load() > 0 && e.poll.unread < pollsUnread {
		e.poll.unread++
		return false
	}
	e.poll.unread = 0
	return true
}

// goOn reads what more there is, after a read that brought something.
func (e *endpoint) goOn(p *peer, more bool) {
	relax.Store(&p.watch.used, e.poll.polls)
	if more {
		p.read(e.poll.scratch[e.poll.hands.full:])
	} else if p.rx.poke {
		p.afterRead()
	}
}

// takeQueued moves to done what others have left, or what has no room elsewhere.
func (e *endpoint) takeQueued(done []transport.Completion) int {
	n, completions := e.arrivals.take(done)
	if completions > 0 {
		e.arrivals.places.Add(1)
		e.wakeBlocked()
	}
	if n > completions {
		e.poll.lent.Store(true)
		if !e.watcher.polling.Load() {
			e.watcher.startPolling() // and be looked after: the rank may not Poll again
		}
	}
	return n
}

// giveBack frees the messages of the last Poll, and lets their senders know when
// they wait for it.
func (e *endpoint) giveBack() {
	e.poll.lent.Store(false)
	for p := e.arrivals.giveBack(); p != nil; p = e.arrivals.giveBack() {
		p.gaveCredit()
	}
}

// due returns the sockets to read: the direct ones, and those of the others that have
// an event.
func (e *endpoint) due() []*peer {
	w, x := &e.watcher, &e.poll
	x.polls++
	relax.Store(&w.polls, x.polls)
	if w.changes.Load() != x.seen {
		x.direct, x.seen = w.directs(x.list[:])
		x.same = 0
	}
	if x.same++; x.same == strikeAfter {
		w.strike()
	}
	if w.armed.Load() > 0 {
		return x.list[:x.direct+e.fired(x.list[x.direct:])]
	}
	return x.list[:x.direct]
}

// fired notes the sockets that have an event, and returns how many.
func (e *endpoint) fired(list []*peer) (n int) {
	w := &e.watcher
	if !w.polling.Load() {
		w.startPolling()
	}
	if e.poll.empty++; e.poll.empty == claimAfter {
		w.claim()
	}
	for _, ev := range e.poll.events[:readyNow(w.epoll, e.poll.events[:])] {
		if p := e.peers[ev.Fd].Load(); w.fired(p) {
			list[n] = p
			n++
		}
	}
	return n
}

// beginRead prepares to read a socket, and goes on writing to it. false: there is none,
// or somebody is at it.
func (p *peer) beginRead(h *hands) bool {
	if p.tx.blocked.Load() {
		p.unblock()
	}
	if !p.rx.mu.TryLock() {
		return false
	}
	if p.fd < 0 {
		p.rx.mu.Unlock()
		return false
	}
	p.lendHands(h)
	return true
}

func (p *peer) endRead(h *hands) {
	p.returnHands(h)
	p.rx.mu.Unlock()
}

// Descriptor is the epoll instance in which all sockets are that are not read anyway.
func (e *endpoint) Descriptor() int { return e.watcher.epoll }

// Rest says that the rank stops polling in a loop.
func (e *endpoint) Rest() { e.watcher.rest() }

// wakeBlocked rings for calls that wait for credit.
func (e *endpoint) wakeBlocked() {
	if e.blocked.Load() > 0 {
		e.ring()
	}
}

// ringIfAny announces what a call has left for Poll.
func (e *endpoint) ringIfAny() {
	if e.arrivals.queued.Load() > 0 {
		e.ring()
	}
}

func (e *endpoint) ring() { e.cfg.Ring(e.cfg.Rank) }

// tell announces what a goroutine of the endpoint has left for Poll, or has found that
// nobody has given back. No lock is held.
func (e *endpoint) tell() {
	if e.arrivals.queued.Load() == 0 && !e.poll.lent.Load() {
		return
	}
	e.ring()
	if e.cfg.Progress != nil {
		e.telling.Lock()
		defer e.telling.Unlock()
		e.cfg.Progress()
	}
}
