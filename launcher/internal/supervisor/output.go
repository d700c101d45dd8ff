package supervisor

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/control"
)

// An outputID names one output of one rank.
type outputID struct{ rank, stream int }

// An output carries what a rank writes to the front, as far as there is credit.
type output struct {
	outputID
	front *control.Conn
	pipe  *os.File

	credit control.Allowance
}

// readSize is how much is read at once: half a window, so that reading and
// writing overlap.
const readSize = control.Window / 2

// carry begins to carry an output. mu is held.
func (s *supervisor) carry(rank, stream int, pipe *os.File) {
	o := &output{outputID: outputID{rank, stream}, front: s.front, pipe: pipe}
	o.credit.Add(control.Window)
	s.outputs[o.outputID] = o
	s.carrying.Go(o.run)
}

func (s *supervisor) credit(m *control.Credit) {
	s.mu.Lock()
	o := s.outputs[outputID{m.Rank, m.Stream}]
	s.mu.Unlock()
	if o != nil {
		o.credit.Add(m.Bytes)
	}
}

// drain waits until everything that the ranks wrote has been sent. There is no
// descendant left that could write; a pipe that nevertheless does not end is held
// by a stranger, whom nobody waits for.
func (s *supervisor) drain() {
	s.mu.Lock()
	for _, o := range s.outputs {
		o.pipe.SetReadDeadline(time.Unix(1, 0))
	}
	s.mu.Unlock()
	s.carrying.Wait()
}

func (o *output) run() {
	defer o.pipe.Close()
	buf := make([]byte, readSize)
	read := o.pipe.Read
	for {
		n, err := read(buf[:min(o.credit.Wait(), len(buf))])
		if n > 0 {
			o.credit.Add(-n)
			o.front.Send(&control.Output{Rank: o.rank, Stream: o.stream, Data: buf[:n]})
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			read = o.readWhatIsThere
			continue
		}
		if err != nil {
			o.front.Send(&control.Closed{Rank: o.rank, Stream: o.stream})
			return
		}
	}
}

// readWhatIsThere reads without waiting; an empty pipe is at its end.
func (o *output) readWhatIsThere(b []byte) (n int, err error) {
	raw, err := o.pipe.SyscallConn()
	if err != nil {
		return 0, err
	}
	var read error
	err = raw.Control(func(fd uintptr) { n, read = syscall.Read(int(fd), b) })
	if err == nil && read == nil && n == 0 {
		err = io.EOF
	}
	return max(n, 0), errors.Join(err, read)
}
