package relay

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/tree"
)

const (
	// linkRoom is how many bytes a host in between queues on a link.
	linkRoom = 1 << 20
	// readBuffer is how much is read from a connection at once.
	readBuffer = 64 << 10
	// ticks is after how many ticks without a sound a link is given up. The last sound
	// was up to one tick earlier.
	ticks = 10
)

// tickOf is the time between two looks at a link, given the failure timeout: half of
// that is a little more than the ticks.
func tickOf(timeout time.Duration) time.Duration {
	return max(timeout/2/(ticks+1), time.Millisecond)
}

// A SilentError says that nothing was heard on a link for too long.
type SilentError struct{ For time.Duration }

func (e *SilentError) Error() string { return fmt.Sprintf("nothing was heard for %v", e.For) }

var errSlow = errors.New("it took too little of what was sent for too long")

// A link carries frames over a connection.
type link struct {
	number tree.Link
	conn   net.Conn
	where  string // the other end's address

	in   *bufio.Reader
	body []byte // the frame that was read last

	heard   atomic.Bool // something came since the last tick
	waiting atomic.Bool // the reader waits for room elsewhere
	silent  int         // ticks; these two are the ticker's
	crowded int         // ticks with more than linkRoom queued

	mu      sync.Mutex
	changed sync.Cond // queue, writing or err has changed
	queue   []byte
	writing bool
	err     error // why nothing can be sent any more
	lost    error // why nothing is read any more
}

// newLink returns a link over conn, which it takes over; someone must call write.
func newLink(number tree.Link, conn net.Conn) *link {
	l := &link{number: number, conn: conn, where: conn.RemoteAddr().String(), in: bufio.NewReaderSize(conn, readBuffer)}
	l.changed.L = &l.mu
	return l
}

// send queues a frame, and reports whether more than linkRoom is queued now.
func (l *link) send(f *tree.Frame) (full bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return false
	}
	l.queue = tree.AppendFrame(l.queue, f)
	l.changed.Broadcast()
	return len(l.queue) > linkRoom
}

// write writes what is queued, until the link ends.
func (l *link) write() {
	var frames []byte
	for {
		frames = l.next(frames[:0])
		if frames == nil {
			return
		}
		if _, err := l.conn.Write(frames); err != nil {
			l.fail(err)
			return
		}
	}
}

// next waits for frames and leaves spare as the empty queue; nil: the end.
func (l *link) next(spare []byte) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writing = false
	l.changed.Broadcast()
	for l.err == nil && len(l.queue) == 0 {
		l.changed.Wait()
	}
	if l.err != nil {
		return nil
	}
	frames := l.queue
	l.queue, l.writing = spare, true
	return frames
}

// room waits until less than linkRoom is queued, or the link has ended.
func (l *link) room() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.err == nil && len(l.queue) > linkRoom {
		l.changed.Wait()
	}
}

// flush waits until everything queued is written, or cannot be.
func (l *link) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.err == nil && (len(l.queue) > 0 || l.writing) {
		l.changed.Wait()
	}
}

// fail ends the link. The first reason counts.
func (l *link) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
		abandon(l.conn)
	}
	l.queue = nil
	l.changed.Broadcast()
}

// giveUp has read return. What is queued is still written.
func (l *link) giveUp(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = why
	l.conn.SetReadDeadline(time.Unix(1, 0))
}

// read returns the next frame. It is valid until the next call.
func (l *link) read() (tree.Frame, error) {
	var head [4]byte
	if _, err := io.ReadFull(l.in, head[:]); err != nil {
		return tree.Frame{}, err
	}
	l.heard.Store(true)
	n := binary.LittleEndian.Uint32(head[:])
	if n == 0 || n > tree.MaxFrame {
		return tree.Frame{}, fmt.Errorf("it sent a frame of %d bytes: want 1 to %d", n, tree.MaxFrame)
	}
	if cap(l.body) < int(n) {
		l.body = make([]byte, n, max(int(n), 4<<10))
	}
	l.body = l.body[:n]
	if _, err := io.ReadFull(l.in, l.body); err != nil {
		return tree.Frame{}, err
	}
	return tree.Decode(l.body)
}

// ended says how the link ended, given what read returned: closed by the other end, or
// not.
func (l *link) ended(err error) (closed bool, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil {
		return false, l.lost
	}
	if l.err != nil && !errors.Is(l.err, syscall.EPIPE) && !errors.Is(l.err, syscall.ECONNRESET) {
		return false, l.err
	}
	closed = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || l.err != nil
	return closed, err
}

// beat is called once a tick. It lets the other end hear something, and ends the link
// when nothing was heard for too long, or it is too slow.
func (l *link) beat(tick time.Duration, minding bool) {
	full := l.send(&tree.Frame{Kind: tree.Beat})
	if l.heard.Swap(false) || l.waiting.Load() || !minding {
		l.silent = 0
	} else if l.silent++; l.silent >= ticks {
		l.giveUp(&SilentError{tick * (ticks + 1)})
	}
	if !full {
		l.crowded = 0
	} else if l.crowded++; l.crowded == ticks {
		l.fail(errSlow)
	}
}

// abandon closes a connection and does not wait to say so.
func abandon(conn net.Conn) {
	if secure, is := conn.(*tls.Conn); is {
		conn = secure.NetConn()
	}
	conn.Close()
}

// leave has the other end close the link when it has what is queued. Within so long
// it is closed anyway, if what is queued cannot be written.
func (l *link) leave(within time.Duration) {
	late := time.AfterFunc(within, func() { l.fail(net.ErrClosed) })
	defer late.Stop()
	l.flush()
	if c, ok := l.conn.(interface{ CloseWrite() error }); ok {
		c.CloseWrite()
	}
}
