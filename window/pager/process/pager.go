package process

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/far"
	"github.com/golaunch/golaunch/window/coherence"
	"github.com/golaunch/golaunch/window/pager/line"
)

// A pager serves the ranks of one host. One thread, the loop, waits for what ranks do and
// for what other hosts say. Whoever deals with something holds mu: the loop or, now and
// then, a goroutine that connects or that the endpoint has. Nobody waits for anything with mu
// but for the kernel, and for what needs no program at the other end: room in a socket that is
// always read, or a device (transport.Conn).
type pager struct {
	start        time.Time
	epoll, timer int
	wakes        []unix.PollFd // the endpoints' descriptors
	wanted       atomic.Bool   // an endpoint has something to be polled for
	look         lookout

	mu        sync.Mutex
	failure   error           // why the pager ends
	members   map[int]*member // by socket
	mail      []*member       // who has any; the loop's alone
	viewsByFD map[int]*view
	spaces    map[uint64]*space
	active    []*space // with something to be carried out
	dirty     []*link  // with something to be sent
	holds     holds
	alarm     int64 // the time when the timer rings; 0: never
	ticks     int64 // when leases are looked at again; 0: there are none
	contents  contents
	buffer    line.Buffer

	greeting *line.Greeting       // nil: no rank has said hello
	far      *far.Far             // nil: there is one host only
	ends     []transport.Endpoint // its endpoints
	links    []*link              // by host; nil for this one, and for who shares no window
	poll     [32]transport.Completion
}

func newPager() (*pager, error) {
	g := &pager{
		start: time.Now(), members: map[int]*member{}, viewsByFD: map[int]*view{},
		spaces: map[uint64]*space{}, contents: newContents(),
	}
	var err error
	if g.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	if g.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK); err != nil {
		return nil, os.NewSyscallError("timerfd_create", err)
	}
	return g, g.add(g.timer)
}

// now is the time: nanoseconds since a moment before the pager's start, so never 0. It costs no system call.
func (g *pager) now() int64 { return int64(time.Since(g.start)) + 1 }

// add has the loop watch a descriptor.
func (g *pager) add(fd int) error {
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(g.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}))
}

// watch changes what for.
func (g *pager) watch(fd int, events uint32) {
	_ = unix.EpollCtl(g.epoll, unix.EPOLL_CTL_MOD, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}

// unlock lets go of mu, and serves the endpoints if one has asked meanwhile.
func (g *pager) unlock() {
	g.mu.Unlock()
	g.serve()
}

// admit takes a rank's socket, which it owns from now on.
func (g *pager) admit(socket int) error {
	g.mu.Lock()
	defer g.unlock()
	g.members[socket] = &member{g: g, socket: socket, rank: -1, leash: -1, views: map[uint64]*view{}}
	return g.add(socket)
}

// loop waits for what ranks do, until something fails.
func (g *pager) loop() error {
	var events [64]unix.EpollEvent
	for {
		n, err := g.next(events[:])
		if err != nil && err != unix.EINTR {
			return os.NewSyscallError("epoll_wait", err)
		}
		g.mu.Lock()
		mail := g.takeMail()
		for _, ev := range events[:max(n, 0)] {
			g.note(g.event(int(ev.Fd), ev.Events))
		}
		g.settle()
		g.hear(mail || n > 0)
		err = g.failure
		g.unlock()
		if err != nil {
			return err
		}
	}
}

// hear takes what other hosts have said, and decides whether the loop looks or sleeps now. What
// ranks want has left before: who waits for an answer needs not wait for a read that finds
// nothing. Only before the loop sleeps all there is must have been read, and the last read have
// brought nothing, so that nothing is lent.
func (g *pager) hear(events bool) {
	polled := g.wanted.Swap(false) || g.look.until != 0
	if polled && g.pollOnce() {
		g.settle()
	}
	if g.look.goOn(g.now(), g.awaited(), events); polled && g.look.until == 0 {
		for g.pollOnce() {
			g.settle()
		}
		g.rest()
	}
}

// note keeps the first error, and has the loop see it.
func (g *pager) note(err error) {
	if err == nil || g.failure != nil {
		return
	}
	g.failure = err
	at := unix.ItimerSpec{Value: unix.Timespec{Nsec: 1}}
	_ = unix.TimerfdSettime(g.timer, 0, &at, nil)
}

// event deals with what a descriptor has. It may have been closed by an event before it.
func (g *pager) event(fd int, events uint32) error {
	if v := g.viewsByFD[fd]; v != nil {
		return v.take()
	}
	m := g.members[fd]
	switch {
	case g.wakesFor(fd):
		g.wanted.Store(true)
		return nil
	case fd == g.timer:
		var times [8]byte
		_, _ = unix.Read(fd, times[:])
		g.alarm = 0
		return g.tick()
	case m == nil:
		return nil
	case events&unix.EPOLLOUT != 0:
		m.goOn()
	}
	if events&^unix.EPOLLOUT == 0 {
		return nil
	}
	return m.take()
}

// settle carries out what has followed, and sends what is to be sent. Called with mu held.
func (g *pager) settle() {
	if g.failure == nil {
		g.note(g.endHolds())
	}
	for len(g.active) > 0 && g.failure == nil {
		last := len(g.active) - 1
		s := g.active[last]
		g.active = g.active[:last]
		g.note(s.carryOut())
	}
	for len(g.dirty) > 0 && g.failure == nil {
		last := len(g.dirty) - 1
		l := g.dirty[last]
		g.dirty = g.dirty[:last]
		l.flush()
	}
	g.setAlarm()
}

// endHolds ends those whose time is over.
func (g *pager) endHolds() error {
	if _, some := g.holds.next(); !some {
		return nil
	}
	now := g.now()
	for h, ok := g.holds.pop(now); ok; h, ok = g.holds.pop(now) {
		if g.spaces[h.space.id] == h.space {
			if err := h.space.happens(coherence.HoldOver, h.page); err != nil {
				return err
			}
		}
	}
	return nil
}

// setAlarm sets the timer, if a demand waits for the end of a hold, or leases have to be
// looked at. Holds that nobody waits for end when something happens.
func (g *pager) setAlarm() {
	next := g.ticks
	if until, some := g.holds.next(); some && (next == 0 || until < next) && g.putOff() {
		next = until
	}
	if next == g.alarm || next == 0 {
		return
	}
	g.alarm = next
	at := unix.ItimerSpec{Value: unix.NsecToTimespec(max(next-g.now(), 1))}
	g.note(os.NewSyscallError("timerfd_settime", unix.TimerfdSettime(g.timer, 0, &at, nil)))
}

func (g *pager) putOff() bool {
	for _, s := range g.spaces {
		if s.host.PutOff() > 0 {
			return true
		}
	}
	return false
}

// spaceOf finds a window's space, or makes it.
func (g *pager) spaceOf(id uint64, spec line.Spec) (*space, error) {
	if s := g.spaces[id]; s != nil {
		return s, nil
	}
	if err := g.reach(spec); err != nil {
		return nil, err
	}
	s, err := newSpace(g, id, spec)
	if err != nil {
		return nil, err
	}
	g.spaces[id] = s
	g.ticks = g.now()
	return s, nil
}

// closeSpace ends a window, which nobody uses any more on any host: what is still to be
// sent for it is what was fetched ahead, or evicted.
func (g *pager) closeSpace(s *space) error {
	err := s.carryOut()
	for _, l := range g.links {
		if l != nil {
			l.forget(s)
		}
	}
	delete(g.spaces, s.id)
	return errors.Join(err, s.close())
}

// killRank ends a rank, and says why.
func (g *pager) killRank(m *member, why string) error {
	fmt.Fprintf(os.Stderr, "golaunch: pager: rank %d is killed: %s\n", m.rank, why)
	return os.NewSyscallError("kill", unix.Kill(m.pid, unix.SIGKILL))
}

// killRanks ends all ranks of this host.
func (g *pager) killRanks(why string) error {
	var err error
	for _, m := range g.members {
		if m.pid > 0 {
			err = errors.Join(err, g.killRank(m, why))
		}
	}
	return err
}
