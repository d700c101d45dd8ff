package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/window/coherence"
	"github.com/golaunch/golaunch/window/pager/line"
	"github.com/golaunch/golaunch/window/pager/stride"
	"github.com/golaunch/golaunch/window/pager/uffd"
)

// A member is a rank of this host, at the other end of a socket.
type member struct {
	g       *pager
	socket  int
	rank    int
	pid     int
	leash   int // -1: none yet
	views   map[uint64]*view
	replies []reply // that found no room
	mail    *mail   // nil: it has not said hello, or has left
}

type reply struct {
	frame line.Frame
	fds   []int // to be closed
}

// take deals with one thing that the rank has sent; if there is more, the loop hears of it again. Its
// end is no error.
func (m *member) take() error {
	f, fds, err := m.g.buffer.ReceiveFD(m.socket)
	switch {
	case err == unix.EAGAIN:
		return nil
	case errors.Is(err, io.EOF), err == unix.ECONNRESET:
		return m.leave()
	case err != nil:
		return m.g.killRank(m, fmt.Sprintf("rank %d has sent what makes no sense: %v", m.rank, err))
	}
	if err := m.takeMail(); err != nil { // which it has sent before
		return err
	}
	return m.deal(f, fds)
}

// deal answers a frame. The error is this process's, not the rank's.
func (m *member) deal(f line.Frame, fds []int) error {
	if f.Kind != line.Hello && f.Kind != line.View || len(fds) != 1 {
		line.CloseAll(fds)
		fds = nil
	}
	switch f.Kind {
	case line.Load, line.Store, line.Swap:
		if v := m.views[f.Window]; v != nil && v.isCarried() {
			return v.space.access(v, f)
		}
		m.refuse(f.ID, fmt.Sprintf("window %#x is not open, or its pages are watched", f.Window))
	case line.Hello:
		m.hello(f, fds)
	case line.Open:
		m.open(f)
	case line.View:
		m.answer(f.ID, nil, m.view(f, fds))
	case line.Figures:
		m.figures(f)
	case line.Shut:
		m.answer(f.ID, nil, m.shut(f.Window, f.N == 1))
	default:
		m.refuse(f.ID, fmt.Sprintf("a frame of kind %d", f.Kind))
	}
	return nil
}

func (m *member) answer(id uint32, body []byte, err error) {
	if err != nil {
		m.refuse(id, err.Error())
		return
	}
	m.done(id, body)
}

func (m *member) done(id uint32, body []byte, fds ...int) {
	m.reply(line.Frame{Kind: line.Done, ID: id, Body: body}, fds...)
}

func (m *member) refuse(id uint32, why string) {
	m.reply(line.Frame{Kind: line.Failed, ID: id, Body: []byte(why)})
}

// reply sends an answer, or keeps it until there is room. It closes the descriptors.
func (m *member) reply(f line.Frame, fds ...int) {
	if len(m.replies) == 0 && line.SendFD(m.socket, &f, fds...) != unix.EAGAIN {
		line.CloseAll(fds) // who has gone is seen by reading
		return
	}
	f.Body = append([]byte(nil), f.Body...) // it may lie in a page
	m.replies = append(m.replies, reply{f, fds})
	m.g.watch(m.socket, unix.EPOLLIN|unix.EPOLLOUT)
}

// goOn sends what is kept.
func (m *member) goOn() {
	for len(m.replies) > 0 {
		r := m.replies[0]
		if line.SendFD(m.socket, &r.frame, r.fds...) == unix.EAGAIN {
			return
		}
		line.CloseAll(r.fds)
		m.replies = m.replies[1:]
	}
	m.g.watch(m.socket, unix.EPOLLIN)
}

// hello learns about the job, from the first rank, and opens the mail.
func (m *member) hello(f line.Frame, fds []int) {
	address, err := m.learn(f, fds)
	if err != nil {
		m.refuse(f.ID, err.Error())
		return
	}
	memory, bell, err := m.openMail()
	if err != nil {
		m.refuse(f.ID, err.Error())
		return
	}
	m.done(f.ID, address, memory, bell)
}

// learn keeps the leash as well.
func (m *member) learn(f line.Frame, fds []int) (address []byte, err error) {
	var g line.Greeting
	if err := json.Unmarshal(f.Body, &g); err != nil {
		line.CloseAll(fds)
		return nil, err
	}
	if len(fds) == 1 {
		m.leash = fds[0]
	}
	m.rank, m.pid = g.Rank, g.PID
	return m.g.greet(&g)
}

func (m *member) open(f line.Frame) {
	s, board, fd, err := m.openView(f)
	if err != nil {
		m.refuse(f.ID, err.Error())
		return
	}
	cache, err := unix.FcntlInt(s.cache.File().Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		_ = unix.Close(fd)
		m.refuse(f.ID, err.Error())
		return
	}
	v := &view{space: s, member: m, board: board, gone: true, walk: stride.Detector{Limit: (int(s.spec.Limit) + 1) / 2}}
	m.views[f.Window] = v
	s.views = append(s.views, v)
	body, _ := json.Marshal(line.Opened{Paths: s.paths()})
	m.done(f.ID, body, cache, fd)
}

// openView finds or makes the space, and makes the board. A view is gone until the rank
// has made its own end.
func (m *member) openView(f line.Frame) (s *space, board []byte, fd int, err error) {
	var spec line.Spec
	if err = json.Unmarshal(f.Body, &spec); err != nil {
		return nil, nil, -1, err
	}
	if m.views[f.Window] != nil {
		return nil, nil, -1, fmt.Errorf("window %#x is open", f.Window)
	}
	if s, err = m.g.spaceOf(f.Window, spec); err != nil {
		return nil, nil, -1, err
	}
	board, fd, err = newBoard(int(spec.Pages))
	return s, board, fd, err
}

// view takes the rank's userfaultfd. Pages that are there already show on the board.
func (m *member) view(f line.Frame, fds []int) error {
	v := m.views[f.Window]
	if v == nil || v.View != nil || len(fds) != 1 {
		line.CloseAll(fds)
		return fmt.Errorf("window %#x: a view that is not awaited", f.Window)
	}
	v.View = uffd.NewView(fds[0], uintptr(f.First)|uintptr(f.N)<<32)
	v.gone = false
	for p := range v.board {
		if v.space.host.State(coherence.Page(p)).Readable() {
			v.board[p] = line.BoardReadable
		}
	}
	m.g.viewsByFD[fds[0]] = v
	return m.g.add(fds[0])
}

func (m *member) figures(f line.Frame) {
	v := m.views[f.Window]
	if v == nil {
		m.refuse(f.ID, fmt.Sprintf("window %#x is not open", f.Window))
		return
	}
	var body []byte
	r, err := v.space.report()
	if err == nil {
		body, err = json.Marshal(r)
	}
	m.answer(f.ID, body, err)
}

// hottest is how many pages a report names.
const hottest = 64

func (s *space) report() (r line.Report, err error) {
	r.Counts = s.counts
	if r.Resident, err = s.cache.Resident(); err != nil {
		return r, err
	}
	for p, n := range s.taken {
		r.Hot = append(r.Hot, line.Heat{Page: uint32(p), Taken: n, False: s.sharing[p].isFalse()})
	}
	slices.SortFunc(r.Hot, func(a, b line.Heat) int {
		if a.Taken != b.Taken {
			return int(b.Taken) - int(a.Taken)
		}
		return int(a.Page) - int(b.Page)
	})
	r.Hot = r.Hot[:min(len(r.Hot), hottest)]
	return r, nil
}

// shut ends the rank's part in a window; the last rank of the host ends the window here, if
// all ranks of all hosts have agreed to that.
func (m *member) shut(window uint64, agreed bool) error {
	v := m.views[window]
	if v == nil {
		return fmt.Errorf("window %#x is not open", window)
	}
	err := m.detach(window)
	if s := v.space; agreed && len(s.views) == 0 {
		err = errors.Join(err, m.g.closeSpace(s))
	}
	return err
}

// detach ends a view.
func (m *member) detach(window uint64) error {
	v := m.views[window]
	delete(m.views, window)
	s := v.space
	s.waiters.forget(v)
	s.views = slices.DeleteFunc(s.views, func(o *view) bool { return o == v })
	if v.View != nil {
		delete(m.g.viewsByFD, v.Fd())
	}
	return v.close()
}

// leave follows the end of the rank's socket. Its windows stay: other hosts may need the
// pages that are stored here.
func (m *member) leave() error {
	var err error
	for _, window := range slices.Collect(maps.Keys(m.views)) {
		err = errors.Join(err, m.detach(window))
	}
	for _, r := range m.replies {
		line.CloseAll(r.fds)
	}
	delete(m.g.members, m.socket)
	err = errors.Join(err, m.closeMail(), unix.Close(m.socket))
	m.socket = -1 // an echo may still come back for it, when another rank has the number
	if m.leash >= 0 {
		err = errors.Join(err, unix.Close(m.leash))
	}
	return err
}
