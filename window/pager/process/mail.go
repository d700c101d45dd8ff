package process

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/window/pager/line"
)

// A mail is memory by which a rank says what it waits for, and hears when it is there: what would go
// by a socket as well, but costs each of both a system call only when the other one sleeps.
type mail struct {
	line.Mail
	requests *line.Reader
	answers  *line.Writer
	bell     int // an eventfd, which the rank writes to when requests says that the loop sleeps
}

// openMail makes a rank's mail, and the descriptors that the rank needs.
func (m *member) openMail() (memory, bell int, err error) {
	if m.mail != nil {
		return -1, -1, fmt.Errorf("rank %d has said hello before", m.rank)
	}
	shared, memory, err := line.NewMail()
	if err != nil {
		return -1, -1, err
	}
	m.mail = &mail{Mail: shared}
	m.mail.requests, m.mail.answers = shared.Pager()
	if bell, err = m.openBell(); err != nil {
		return -1, -1, errors.Join(fmt.Errorf("the bell of rank %d: %w", m.rank, err), m.closeMail(), unix.Close(memory))
	}
	m.g.mail = append(m.g.mail, m)
	return memory, bell, nil
}

// openBell has the loop hear of each time that the rank rings, by the edge: nobody reads it.
func (m *member) openBell() (theirs int, err error) {
	if m.mail.bell, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return -1, err
	}
	err = unix.EpollCtl(m.g.epoll, unix.EPOLL_CTL_ADD, m.mail.bell, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(m.mail.bell)})
	if err != nil {
		return -1, err
	}
	return unix.FcntlInt(uintptr(m.mail.bell), unix.F_DUPFD_CLOEXEC, 0)
}

func (m *member) closeMail() error {
	if m.mail == nil {
		return nil
	}
	m.g.mail = slices.DeleteFunc(m.g.mail, func(o *member) bool { return o == m })
	err := m.mail.Close()
	if bell := m.mail.bell; bell > 0 { // what the rank has is the same bell
		_ = unix.EpollCtl(m.g.epoll, unix.EPOLL_CTL_DEL, bell, nil)
		err = errors.Join(err, unix.Close(bell))
	}
	m.mail = nil
	return err
}

// post answers what came by mail. A rank that has more requests under way than there are places
// spoils what it has not read.
func (m *member) post(id uint32, err error) {
	if m.mail == nil { // an echo may still come back for who has left
		return
	}
	f := line.Frame{Kind: line.Done, ID: id}
	if err != nil {
		why := err.Error()
		f.Kind, f.Body = line.Failed, []byte(why[:min(len(why), line.MaxRingBody)])
	}
	if m.mail.answers.Send(&f) {
		m.mail.answers.Wake()
	}
}

// takeMail deals with what the rank has sent up to now.
func (m *member) takeMail() error {
	for range line.Places {
		if m.mail == nil {
			return nil
		}
		f, some, err := m.mail.requests.Receive()
		if err != nil {
			err = errors.Join(m.g.killRank(m, fmt.Sprintf("rank %d has sent what makes no sense: %v", m.rank, err)), m.closeMail())
		}
		if !some {
			return err
		}
		if err := m.dealMail(f); err != nil {
			return err
		}
	}
	return nil
}

// dealMail begins what a rank waits for. The error is this process's, not the rank's.
func (m *member) dealMail(f line.Frame) error {
	v := m.views[f.Window]
	switch {
	case v == nil:
		m.post(f.ID, fmt.Errorf("window %#x is not open", f.Window))
	case f.Kind == line.Want && (!v.isCarried() || f.Mode > line.Write):
		return v.space.want(v, f)
	case f.Kind == line.Echo:
		v.echo(f)
	default:
		m.post(f.ID, fmt.Errorf("a frame of kind %d by mail", f.Kind))
	}
	return nil
}

// takeMail deals with what all ranks have sent, and reports whether that was anything.
func (g *pager) takeMail() (some bool) {
	for i := len(g.mail) - 1; i >= 0; i-- { // one may go
		if m := g.mail[i]; !m.mail.requests.Empty() {
			some = true
			g.note(m.takeMail())
		}
	}
	return some
}

func (g *pager) hasMail() bool {
	return slices.ContainsFunc(g.mail, func(m *member) bool { return !m.mail.requests.Empty() })
}

// sleep waits for events, unless there is mail.
func (g *pager) sleep(events []unix.EpollEvent) (int, error) {
	limit := -1
	for _, m := range g.mail {
		if !m.mail.requests.Drowse() {
			limit = 0
		}
	}
	n, err := unix.EpollWait(g.epoll, events, limit)
	for _, m := range g.mail {
		m.mail.requests.Rouse()
	}
	return n, err
}
