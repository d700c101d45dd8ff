//go:build cgo && linux

package verbs

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A watcher takes in what ends while the rank does not poll.
//
// While the rank polls, the completion queue is not armed: no thread is woken for what
// Poll finds by itself. Rest arms it, and then the endpoint's goroutine, which waits in
// the Go scheduler's poller for the event, takes completions until the rank polls
// again. A rank that stops polling without a Rest is found out after watchFirst to
// watchLast: messages and credit may wait as long, and nothing else. To look costs a
// wake-up, which a rank that polls on a core of its own would notice.
//
// A rank that watches (Config.Watches) waits for the channel itself: the goroutine is not
// there, and whoever rests or polls takes the event. Poll takes it before it looks at the
// queue, Rest before it arms the queue and then looks: so what nobody has seen has an event.
type watcher struct {
	e      *endpoint
	events *os.File // the completion queue's channel; nil: the rank watches
	raw    syscall.RawConn
	harm   *os.File // the device's asynchronous events
	rawer  syscall.RawConn
	taken  error

	polling atomic.Bool   // the rank has polled of late
	armed   atomic.Bool   // the event that is to come was not taken yet
	polls   atomic.Uint64 // counts Polls

	mu      sync.Mutex // guards the rest
	looking bool       // a look whether the rank still polls is due
	period  time.Duration
	seen    uint64 // polls at the last look
}

const (
	watchFirst = time.Millisecond
	watchLast  = 16 * time.Millisecond
)

func (w *watcher) open(e *endpoint) (err error) {
	w.e = e
	if !e.cfg.Watches {
		if w.events, w.raw, err = watched(e.cq.fd, "completion events"); err != nil {
			return err
		}
	}
	if w.harm, w.rawer, err = watched(e.device.asyncFD, "asynchronous events"); err != nil {
		return errors.Join(err, w.closeEvents())
	}
	w.arm() // a rank need not poll before it is told of what comes
	return nil
}

// watched makes a file of a descriptor that stays libibverbs': it has the same open
// file under a number of its own.
func watched(fd int, name string) (*os.File, syscall.RawConn, error) {
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	f := os.NewFile(uintptr(own), name)
	if err := f.SetReadDeadline(time.Time{}); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	raw, err := f.SyscallConn()
	return f, raw, err
}

// polled is called by Poll.
func (w *watcher) polled() {
	if w.e.cfg.Watches {
		w.polling.Store(true)
		w.takeEvent()
		return
	}
	w.polls.Add(1)
	if !w.polling.Load() {
		w.startPolling()
	}
}

// takeEvent makes the channel of a rank that watches silent, until the queue is armed again.
func (w *watcher) takeEvent() {
	if w.armed.Load() {
		if ok, _ := w.e.cq.event(); ok {
			w.armed.Store(false)
		}
	}
}

func (w *watcher) startPolling() {
	w.polling.Store(true)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.looking {
		w.looking, w.period, w.seen = true, watchFirst, w.polls.Load()
		w.wake(w.period)
	}
}

// wake has the endpoint's goroutine woken in time. Called with mu held.
func (w *watcher) wake(after time.Duration) { _ = w.events.SetReadDeadline(time.Now().Add(after)) }

// rest has the endpoint's goroutine take in what comes from now on, or the rank, which
// watches.
func (w *watcher) rest() {
	if w.e.cfg.Watches {
		w.takeEvent()
	}
	w.arm()
	w.left()
}

// arm arms the completion queue, unless it is, and takes what was there.
func (w *watcher) arm() {
	w.polling.Store(false)
	if !w.armed.Swap(true) {
		w.e.harvestArmed()
	}
}

// left announces what a caller's thread has left for Poll, or not given back, and unless
// the rank polls has the endpoint's goroutine tell of it.
func (w *watcher) left() {
	if !w.e.wantsPoll() {
		return
	}
	w.e.ring()
	if !w.polling.Load() && !w.e.cfg.Watches {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.looking = true
		w.wake(0)
	}
}

// run is the endpoint's goroutine. It ends when the watcher is closed.
func (w *watcher) run() {
	defer w.e.running.Done()
	take := func(uintptr) bool {
		var ok bool
		ok, w.taken = w.e.cq.event()
		return ok || w.taken != nil
	}
	for {
		err := w.raw.Read(take)
		switch {
		case err == nil && w.taken == nil:
			w.armed.Store(false)
			if !w.polling.Load() {
				w.arm()
				w.e.tell()
			}
		case errors.Is(err, os.ErrDeadlineExceeded):
			w.look()
		default:
			return
		}
	}
}

// look finds out whether a rank that polled still does. It rests if not.
func (w *watcher) look() {
	w.mu.Lock()
	w.looking = false
	if seen := w.polls.Load(); w.polling.Load() && seen != w.seen {
		w.looking, w.seen, w.period = true, seen, min(2*w.period, watchLast)
		w.wake(w.period)
	} else {
		_ = w.events.SetReadDeadline(time.Time{})
	}
	looking := w.looking
	w.mu.Unlock()
	if !looking {
		w.arm()
		w.e.tell()
	}
}

// heed is the goroutine that hears what the device has to say by itself.
func (w *watcher) heed() {
	defer w.e.running.Done()
	var heard event
	var harmful bool
	var failed error
	take := func(uintptr) bool {
		heard, harmful, failed = w.e.device.event()
		return harmful || failed != nil
	}
	for w.rawer.Read(take) == nil && failed == nil {
		w.e.suffer(heard)
	}
}

// close ends both goroutines.
func (w *watcher) close() { _, _ = w.closeEvents(), w.harm.Close() }

func (w *watcher) closeEvents() error {
	if w.events == nil {
		return nil
	}
	return w.events.Close()
}

// An event is something that has happened to the device.
type event struct {
	name string
	pair uint32 // 0: not to a queue pair
	port int    // 0: not to a port
}

// suffer ends the connections that an event has ended: one queue pair's, or all.
func (e *endpoint) suffer(v event) {
	at := e.device.place
	if v.port != 0 && v.port != at.port {
		return
	}
	err := fmt.Errorf("device %s, port %d: %s: %w", at.device, at.port, v.name, errDevice)
	for _, o := range e.connected() {
		if v.pair == 0 || o.owns(v.pair) {
			o.end(err)
		}
	}
	for _, t := range e.incoming() {
		if v.pair == 0 || t.owns(v.pair) {
			t.end(err)
		}
	}
	e.tell()
}
