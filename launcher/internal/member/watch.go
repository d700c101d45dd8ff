package member

import (
	"sync"

	"github.com/golaunch/golaunch/launcher/internal/member/roster"
)

// A Change is what an Event is about.
type Change = roster.Change

// The changes.
const (
	Joined    = roster.Joined    // it is alive: new, or back
	Updated   = roster.Updated   // its Meta is another
	Restarted = roster.Restarted // its process is another
	Died      = roster.Died      // gossip has confirmed that it does not answer
	Departed  = roster.Departed  // it has left in good order
	Clashed   = roster.Clashed   // another host, at Member.Addr, has this name too
	Forgotten = roster.Forgotten // it is shown no longer
)

// An Event is news of a member, as it was then.
type Event struct {
	Change Change
	Member Member
	// Missed: the watcher has not kept up, and events before this one are lost.
	Missed bool
}

// maxBehind is how many events a watcher may be behind.
const maxBehind = 4096

// A watcher has a queue of its own, so that nobody waits for who reads slowly.
type watcher struct {
	mu     sync.Mutex
	queue  []Event
	missed bool
	wake   chan struct{} // of capacity 1
	events chan Event
	gone   chan struct{} // closed by cancel
	once   sync.Once
}

// Watch reports what changes from now on, beginning with a Joined for everybody who is
// alive. The channel must be read until it is closed, by cancel or with the cluster.
func (c *Cluster) Watch() (events <-chan Event, cancel func()) {
	w := &watcher{wake: make(chan struct{}, 1), events: make(chan Event), gone: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.roster.Entries() {
		if e.State == Alive {
			w.queue = append(w.queue, Event{Change: Joined, Member: c.member(e)})
		}
	}
	w.rouse()
	if c.ctx.Err() != nil {
		close(w.events)
		return w.events, func() {}
	}
	c.watchers[w] = true
	c.running.Go(func() { w.deliver(c.ctx.Done()) })
	return w.events, func() {
		c.mu.Lock()
		delete(c.watchers, w)
		c.mu.Unlock()
		w.once.Do(func() { close(w.gone) })
	}
}

func (w *watcher) rouse() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// tell puts an event in the queue.
func (w *watcher) tell(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) >= maxBehind {
		w.queue, w.missed = nil, true
	}
	e.Missed, w.missed = w.missed, false
	w.queue = append(w.queue, e)
	w.rouse()
}

// deliver takes events out of the queue until the watcher or the cluster is done.
func (w *watcher) deliver(closed <-chan struct{}) {
	defer close(w.events)
	for {
		w.mu.Lock()
		batch := w.queue
		w.queue = nil
		w.mu.Unlock()
		for _, e := range batch {
			select {
			case w.events <- e:
			case <-w.gone:
				return
			case <-closed:
				return
			}
		}
		select {
		case <-w.wake:
		case <-w.gone:
			return
		case <-closed:
			return
		}
	}
}
