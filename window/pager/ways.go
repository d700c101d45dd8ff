package pager

import (
	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/window/pager/line"
)

// A way is how requests go, and how answers come. One goroutine at a time sends, and one receives.
type way interface {
	send(f line.Frame, fds []int) error
	// receive waits for the next answer, with its thread but without a P. Its Body is valid until
	// the next call.
	receive() (line.Frame, []int, error)
}

type bySocket struct {
	fd     int
	buffer line.Buffer
}

func (s *bySocket) send(f line.Frame, fds []int) error { return line.Send(s.fd, &f, fds...) }

func (s *bySocket) receive() (line.Frame, []int, error) { return s.buffer.Receive(s.fd) }

// byMail is by memory that the pager looks at, or is woken to look at. That the pager has died nobody
// needs to hear: then this process dies.
type byMail struct {
	requests *line.Writer
	answers  *line.Reader
	bell     int
}

var ring = []byte{1, 0, 0, 0, 0, 0, 0, 0}

func (m *byMail) send(f line.Frame, _ []int) error {
	if m.requests.Send(&f) {
		_, err := unix.Write(m.bell, ring)
		return err
	}
	return nil
}

func (m *byMail) receive() (line.Frame, []int, error) {
	for {
		f, some, err := m.answers.Receive()
		if some || err != nil {
			return f, nil, err
		}
		if m.answers.Drowse() {
			m.answers.Sleep()
		}
		m.answers.Rouse()
	}
}
