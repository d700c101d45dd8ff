package tcp

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A socket is watched in one of two ways. Armed, it is in the endpoint's epoll
// instance, for one event. Direct, it is in the list of sockets that Poll reads on
// every call, whether they have something or not, and its epoll entry is disarmed.
// It becomes direct when it has an event while the rank polls, and is armed again
// by Rest, or when there has been no Poll for a while. One that stays direct is taken
// out of the instance: what arrives would go there first, 0.25 us for the sender.
//
// The instance is itself in another one, the gate, also for one event, and the gate
// is watched by the Go scheduler's poller: so an idle rank holds no thread. While
// the rank polls the gate is left closed once an event has gone through, and no
// thread is woken for what Poll finds; when the rank rests it is opened.

const (
	// maxDirect is how many sockets Poll reads on every call. The others are looked
	// for together, by one call for all of them.
	maxDirect = 4
	// claimAfter is after how many Polls without anything the sockets are made direct
	// before they have an event, if they are few: an event would wake a thread.
	claimAfter = 16
	// strikeAfter is after how many Polls with the same sockets they are taken out of
	// the epoll instance.
	strikeAfter = 64
	// The endpoint's goroutine looks whether the rank still polls, first after
	// watchFirst, then ever more seldom.
	watchFirst = 200 * time.Microsecond
	watchLast  = 2 * time.Millisecond
)

type watchState uint8

const (
	unwatched watchState = iota // no socket, or none any more
	armed
	direct
	busy // the endpoint's goroutine has taken its event and will arm it again
)

// A watch is how one peer's socket is watched. Guarded by watcher.mu.
type watch struct {
	state watchState
	// used is what polls was when Poll last read something from it; without the lock.
	used atomic.Uint64
	out  bool // it is not in the epoll instance
}

type watcher struct {
	e     *endpoint
	epoll int
	gate  int
	file  *os.File // the gate, for the Go scheduler's poller
	raw   syscall.RawConn

	polling atomic.Bool   // the rank has polled of late
	polls   atomic.Uint64 // counts Polls
	armed   atomic.Int64  // sockets that are armed
	direct  atomic.Int64  // sockets that are direct
	changes atomic.Uint64 // counts changes of list

	mu      sync.Mutex
	list    [maxDirect]*peer // the direct ones, from the beginning
	sockets []*peer
	closed  bool

	clock clock
}

// A clock is when the endpoint's goroutine has to look, whatever happens.
type clock struct {
	mu     sync.Mutex
	look   time.Time // whether the rank still polls; zero: nobody asked
	period time.Duration
	tick   time.Time // whether peers still answer
	seen   uint64    // polls at the last look
}

func (w *watcher) open(e *endpoint) (err error) {
	w.e = e
	if w.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	if w.gate, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		_ = unix.Close(w.epoll)
		return os.NewSyscallError("epoll_create1", err)
	}
	open := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLONESHOT}
	if e.cfg.Watches {
		open.Events = 0 // the gate stays closed: the rank watches the epoll instance itself
	}
	err = unix.EpollCtl(w.gate, unix.EPOLL_CTL_ADD, w.epoll, &open)
	if err == nil {
		err = unix.SetNonblock(w.gate, true)
	}
	if err != nil {
		_, _ = unix.Close(w.epoll), unix.Close(w.gate)
		return fmt.Errorf("epoll: %w", err)
	}
	w.file = os.NewFile(uintptr(w.gate), "epoll")
	w.raw, err = w.file.SyscallConn()
	return err
}

// openGate has the endpoint's goroutine woken by the next event, or one that is
// there already.
func (w *watcher) openGate() {
	if w.e.cfg.Watches {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		_ = unix.EpollCtl(w.gate, unix.EPOLL_CTL_MOD, w.epoll, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLONESHOT})
	}
}

// add begins to watch a new connection. Called with p.tx.mu held.
func (w *watcher) add(p *peer) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLONESHOT, Fd: int32(p.rank)}
	if err := unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, p.fd, &ev); err != nil {
		return os.NewSyscallError("epoll_ctl", err)
	}
	p.watch.state = armed
	w.armed.Add(1)
	w.sockets = append(w.sockets, p)
	return nil
}

// forget ends watching. Called with p.rx.mu and p.tx.mu held.
func (w *watcher) forget(p *peer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leave(p)
	p.watch.state = unwatched
	for i, q := range w.sockets {
		if q == p {
			last := len(w.sockets) - 1
			w.sockets[i], w.sockets[last] = w.sockets[last], nil
			w.sockets = w.sockets[:last]
			break
		}
	}
	if !w.closed && !p.watch.out {
		_ = unix.EpollCtl(w.epoll, unix.EPOLL_CTL_DEL, p.fd, &unix.EpollEvent{})
	}
}

// leave takes p out of the state it is in. Called with mu held.
func (w *watcher) leave(p *peer) {
	switch p.watch.state {
	case armed:
		w.armed.Add(-1)
	case direct:
		n := int(w.direct.Add(-1))
		w.changes.Add(1)
		for i, q := range w.list {
			if q == p {
				w.list[i], w.list[n] = w.list[n], nil
				break
			}
		}
	}
}

// arm waits for p's next event. Called with mu held.
func (w *watcher) arm(p *peer) {
	w.leave(p)
	p.watch.state = armed
	w.armed.Add(1)
	w.modify(p, unix.EPOLLIN)
}

func (w *watcher) modify(p *peer, events uint32) {
	if events != 0 && p.tx.blocked.Load() {
		events |= unix.EPOLLOUT
	}
	if w.closed {
		return
	}
	ev := unix.EpollEvent{Events: events | unix.EPOLLONESHOT, Fd: int32(p.rank)}
	how := unix.EPOLL_CTL_MOD
	if p.watch.out {
		how, p.watch.out = unix.EPOLL_CTL_ADD, false
	}
	_ = unix.EpollCtl(w.epoll, how, p.fd, &ev)
}

// strike takes the direct sockets out of the epoll instance.
func (w *watcher) strike() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.list[:w.direct.Load()] {
		if !p.watch.out && !w.closed {
			_ = unix.EpollCtl(w.epoll, unix.EPOLL_CTL_DEL, p.fd, &unix.EpollEvent{})
			p.watch.out = true
		}
	}
}

// wantWrite has p's socket watched for room, too: tx.blocked is set. Who polls
// tries by itself.
func (w *watcher) wantWrite(p *peer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.watch.state == armed && !w.closed {
		w.modify(p, unix.EPOLLIN)
	}
}

// fired takes p's event, in Poll. It reports whether p has a socket.
func (w *watcher) fired(p *peer) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.watch.state == unwatched {
		return false
	}
	w.makeDirect(p)
	return true
}

// makeDirect puts p into the list, and if that is full, arms the one there that
// has had nothing for longest. Called with mu held.
func (w *watcher) makeDirect(p *peer) {
	if p.watch.state == direct {
		return
	}
	w.leave(p)
	if int(w.direct.Load()) == maxDirect {
		oldest := w.list[0]
		for _, q := range w.list[1:] {
			if q.watch.used.Load() < oldest.watch.used.Load() {
				oldest = q
			}
		}
		w.arm(oldest)
	}
	p.watch.state = direct
	p.watch.used.Store(w.polls.Load())
	w.list[w.direct.Add(1)-1] = p
	w.changes.Add(1)
}

// directs copies the list to Poll's, and returns how many there are.
func (w *watcher) directs(list []*peer) (n int, changes uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return copy(list, w.list[:w.direct.Load()]), w.changes.Load()
}

// claim makes all sockets direct, if they are few.
func (w *watcher) claim() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.sockets) > maxDirect || w.closed {
		return
	}
	for _, p := range w.sockets {
		if p.watch.state == armed {
			w.makeDirect(p)
			w.modify(p, 0)
		}
	}
}

// rest arms all direct sockets, and opens the gate.
func (w *watcher) rest() {
	if !w.polling.Swap(false) && w.direct.Load() == 0 {
		return
	}
	w.mu.Lock()
	for w.direct.Load() > 0 {
		w.arm(w.list[0])
	}
	w.mu.Unlock()
	w.openGate()
}
