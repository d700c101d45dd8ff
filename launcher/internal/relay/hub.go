package relay

import (
	"errors"
	"net"
	"sync"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/join"
	"github.com/golaunch/golaunch/launcher/internal/tree"
)

// ackDelay is how long an acknowledgement of the root may wait for something that it
// can travel with: a host may wait for it to end. Those of hosts have until the next
// tick: everybody acknowledges what all are told, and nobody waits for that.
const ackDelay = time.Millisecond

// leaveWait is how long the end of a link may take.
const leaveWait = time.Second

// A machine is what a Root and a Node have in common.
type machine interface {
	FromChild(l tree.Link, f tree.Frame, where string) error
	Ended(l tree.Link, closed bool, why string)
	Out() []tree.Out
	Owes() bool
	Acknowledge()
}

// A hub carries out a machine: its links to children, and the time.
type hub struct {
	listener *join.Listener // nil: nobody can attach
	running  sync.WaitGroup

	mu      sync.Mutex
	machine machine
	links   map[tree.Link]*link // of children, and the parent's
	last    tree.Link
	owing   bool   // Acknowledge will be called
	took    func() // takes what the machine has received; mu is held
	closed  bool
	period  time.Duration // between two ticks

	ackDelay func() time.Duration // mu is held
}

// carry sends what the machine wants to send, and returns the links that are full
// then. mu is held.
func (h *hub) carry() (full []*link) {
	for _, o := range h.machine.Out() {
		if l := h.links[o.Link]; l != nil && l.send(&o.Frame) {
			full = append(full, l)
		}
	}
	h.took()
	if h.machine.Owes() && !h.owing {
		h.owing = true
		time.AfterFunc(h.ackDelay(), h.acknowledge)
	}
	return full
}

func (h *hub) acknowledge() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.owing = false
	h.machine.Acknowledge()
	h.carry()
}

// do calls the machine.
func (h *hub) do(call func()) (full []*link) {
	h.mu.Lock()
	defer h.mu.Unlock()
	call()
	return h.carry()
}

// add makes a link to a child; nil: it is too late.
func (h *hub) add(conn net.Conn) *link {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		abandon(conn)
		return nil
	}
	h.last++
	l := newLink(h.last, conn)
	h.links[h.last] = l
	h.running.Go(l.write)
	return l
}

// serve lets others attach until the listener is closed.
func (h *hub) serve() {
	for {
		conn, err := h.listener.Accept()
		if err != nil {
			return
		}
		if l := h.add(conn); l != nil {
			h.running.Go(func() { h.attend(l) })
		}
	}
}

// attend passes on what comes from a child.
func (h *hub) attend(l *link) {
	err := h.hear(l)
	closed, why := l.ended(err)
	h.do(func() {
		h.machine.Ended(l.number, closed, why.Error())
	})
	l.leave(leaveWait)
	l.fail(net.ErrClosed)
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.links, l.number)
}

func (h *hub) hear(l *link) error {
	for {
		f, err := l.read()
		if err != nil {
			return err
		}
		for _, up := range h.do(func() { err = h.machine.FromChild(l.number, f, l.where) }) {
			if up.number == tree.Parent {
				l.waitFor(up)
			}
		}
		if err != nil {
			return err
		}
	}
}

// waitFor waits until there is room on another link, for what comes over this one.
func (l *link) waitFor(other *link) {
	l.waiting.Store(true)
	defer l.waiting.Store(false)
	other.room()
}

// close ends every link at once.
func (h *hub) close() {
	h.mu.Lock()
	h.closed = true
	for _, l := range h.links {
		l.fail(net.ErrClosed)
	}
	h.mu.Unlock()
	if h.listener != nil {
		h.listener.Close()
	}
}

// current lists the links there are.
func (h *hub) current() (links []*link) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.links {
		links = append(links, l)
	}
	return links
}

var errOver = errors.New("the job is over for it")
