package tcp

import (
	"fmt"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/runtime/relax"
	"github.com/golaunch/golaunch/transport"
)

// A poller is what Poll alone touches.
type poller struct {
	mu      sync.Mutex // held by Poll; there to keep Close from under it
	scratch []byte
	list    [maxDirect]*peer // the direct sockets, as they were when seen changes
	direct  int
	seen    uint64
	same    int // Polls since then
	polls   uint64
	lent    bool // the last Poll delivered messages from inboxes
	hands   hands
	events  [16]unix.EpollEvent
	unread  int // Polls since sockets were looked at
	empty   int // Polls in a row without anything
}

// pollsUnread is how many Polls may live on what is there already.
const pollsUnread = 4

// Poll gives back what the last one delivered, reads sockets unless there is
// something already, and hands out what there is.
func (e *endpoint) Poll(done []transport.Completion) (int, error) {
	e.poll.mu.Lock()
	defer e.poll.mu.Unlock()
	if e.closed.Load() {
		return 0, fmt.Errorf("tcp: rank %d: Poll: %w", e.cfg.Rank, transport.ErrClosed)
	}
	if e.poll.lent {
		e.giveBack()
	}
	n := 0
	if e.arrivals.queued.Load() == 0 || e.poll.unread >= pollsUnread {
		e.poll.unread = 0
		e.poll.hands = hands{done: done}
		e.readSockets()
		n = e.poll.hands.n
	} else {
		e.poll.unread++
	}
	if e.arrivals.queued.Load() > 0 {
		n += e.takeQueued(done[n:])
	}
	if n > 0 {
		e.poll.empty = 0
	}
	return n, nil
}

// takeQueued moves to done what others have left, or what has no room elsewhere.
func (e *endpoint) takeQueued(done []transport.Completion) int {
	n, completions := e.arrivals.take(done)
	if completions > 0 {
		e.arrivals.places.Add(1)
		e.wakeBlocked()
	}
	e.poll.lent = n > completions
	return n
}

// giveBack frees the messages of the last Poll, and lets their senders know when
// they wait for it.
func (e *endpoint) giveBack() {
	e.poll.lent = false
	for p := e.arrivals.giveBack(); p != nil; p = e.arrivals.giveBack() {
		p.gaveCredit()
	}
}

// readSockets reads the direct sockets, and looks for events of the others.
func (e *endpoint) readSockets() {
	w := &e.watcher
	e.poll.polls++
	relax.Store(&w.polls, e.poll.polls)
	if w.changes.Load() != e.poll.seen {
		e.poll.direct, e.poll.seen = w.directs(&e.poll.list)
		e.poll.same = 0
	}
	if e.poll.same++; e.poll.same == strikeAfter {
		w.strike()
	}
	for _, p := range e.poll.list[:e.poll.direct] {
		e.pollPeer(p)
	}
	if w.armed.Load() > 0 {
		e.pollArmed()
	}
}

func (e *endpoint) pollArmed() {
	w := &e.watcher
	if !w.polling.Load() {
		w.startPolling()
	}
	if e.poll.empty++; e.poll.empty == claimAfter {
		w.claim()
	}
	n := readyNow(w.epoll, e.poll.events[:])
	for _, ev := range e.poll.events[:n] {
		if p := e.peers[ev.Fd].Load(); w.fired(p) {
			e.pollPeer(p)
		}
	}
}

// pollPeer reads one socket, and goes on writing to it, unless somebody is at it.
func (e *endpoint) pollPeer(p *peer) {
	if p.tx.blocked.Load() {
		p.unblock()
	}
	if p.rx.mu.TryLock() {
		h := &e.poll.hands
		p.lendHands(h)
		if p.read(e.poll.scratch[h.full:]) {
			relax.Store(&p.watch.used, e.poll.polls)
		}
		p.returnHands(h)
		p.rx.mu.Unlock()
	}
}

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

// tell announces what a goroutine of the endpoint has left for Poll. No lock is
// held.
func (e *endpoint) tell() {
	if e.arrivals.queued.Load() == 0 {
		return
	}
	e.ring()
	if e.cfg.Progress != nil {
		e.telling.Lock()
		defer e.telling.Unlock()
		e.cfg.Progress()
	}
}
