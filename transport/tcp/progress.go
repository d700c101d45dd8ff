package tcp

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/runtime/relax"
)

// startPolling notes that the rank polls now. Its goroutine will look whether it
// still does.
func (w *watcher) startPolling() {
	w.polling.Store(true)
	if w.e.cfg.Watches {
		return
	}
	w.clock.mu.Lock()
	defer w.clock.mu.Unlock()
	if w.clock.look.IsZero() {
		w.clock.period = watchFirst
		w.clock.look = time.Now().Add(watchFirst)
		w.setDeadline()
	}
}

// setDeadline has the endpoint's goroutine woken in time. Called with clock.mu
// held.
func (w *watcher) setDeadline() {
	next := w.clock.tick
	if look := w.clock.look; !look.IsZero() && look.Before(next) {
		next = look
	}
	_ = w.file.SetReadDeadline(next)
}

// yieldAfter is after how many events the endpoint's goroutine leaves its core to who else
// wants it. While peers' operations come back to back it never sleeps, and would have a
// fair half of the core, and more in each turn, beside a rank that computes there.
const yieldAfter = 64

// run is the endpoint's goroutine: it deals with events while the rank does not
// poll, and looks whether it does. It ends when the epoll instance is closed.
func (w *watcher) run() {
	defer w.e.running.Done()
	defer func() { _ = unix.Close(w.epoll) }()
	scratch := make([]byte, scratchBytes)
	events := make([]unix.EpollEvent, 16)
	look := func(uintptr) bool { return readyNow(w.gate, events) > 0 }
	for dealt := 1; ; dealt++ {
		err := w.raw.Read(look)
		switch {
		case err == nil:
			w.dealAll(events, scratch)
			if dealt%yieldAfter == 0 {
				relax.Yield()
			}
		case errors.Is(err, os.ErrDeadlineExceeded):
			w.timer()
		default:
			return
		}
	}
}

// dealAll deals with the events that there are, and opens the gate for more; Rest does that if
// the rank polls.
func (w *watcher) dealAll(events []unix.EpollEvent, scratch []byte) {
	if n := readyNow(w.epoll, events); n > 0 {
		w.deal(events[:n], scratch)
		if w.e.cfg.Served != nil {
			w.e.cfg.Served()
		}
	}
	if !w.polling.Load() {
		w.openGate()
	}
}

// deal reads and writes the sockets that have events, or leaves that to Poll, if
// the rank polls.
func (w *watcher) deal(events []unix.EpollEvent, scratch []byte) {
	for _, ev := range events {
		p := w.e.peers[ev.Fd].Load()
		if !w.taken(p) {
			continue
		}
		if ev.Events&unix.EPOLLOUT != 0 {
			p.unblock()
		}
		if ev.Events&^unix.EPOLLOUT != 0 {
			p.rx.mu.Lock()
			p.read(scratch)
			p.rx.mu.Unlock()
		}
		w.release(p)
	}
	w.e.tell()
}

// taken reports whether p's event is the goroutine's to deal with.
func (w *watcher) taken(p *peer) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case p.watch.state == unwatched:
		return false
	case w.polling.Load():
		w.makeDirect(p)
		return false
	}
	w.leave(p)
	p.watch.state = busy
	return true
}

func (w *watcher) release(p *peer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.watch.state == busy {
		w.arm(p)
	}
}

// timer looks at what the time has come for.
func (w *watcher) timer() {
	now := time.Now()
	w.clock.mu.Lock()
	look := !w.clock.look.IsZero() && !now.Before(w.clock.look)
	if look {
		w.clock.look = time.Time{}
		if seen := w.polls.Load(); seen != w.clock.seen {
			w.clock.seen = seen
			w.clock.period = min(2*w.clock.period, watchLast)
			w.clock.look = now.Add(w.clock.period)
			look = false
		}
	}
	tick := !now.Before(w.clock.tick)
	if tick {
		w.clock.tick = now.Add(w.e.timeout / 4)
	}
	w.setDeadline()
	w.clock.mu.Unlock()
	if look {
		w.rest()
		w.e.tell()
	}
	if tick {
		w.e.tick()
	}
}
