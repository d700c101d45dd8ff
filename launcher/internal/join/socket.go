package join

import (
	"errors"
	"net"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// readBudget is how many bytes are read of an end that has proved nothing. A
// handshake takes less than a quarter.
const readBudget = 16 << 10

var errBudget = errors.New("it said too much before it had proved anything")

// A limited is a connection of which only so much is read until lift.
type limited struct {
	*net.TCPConn
	left   int // the reader's
	lifted atomic.Bool
}

func (l *limited) lift() { l.lifted.Store(true) }

func (l *limited) Read(b []byte) (int, error) {
	if l.lifted.Load() {
		return l.TCPConn.Read(b)
	}
	if l.left == 0 {
		return 0, errBudget
	}
	n, err := l.TCPConn.Read(b[:min(len(b), l.left)])
	l.left -= n
	return n, err
}

// tune has the kernel give a connection up when what was sent is not acknowledged
// for so long.
func tune(c *net.TCPConn, timeout time.Duration) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	err = raw.Control(func(fd uintptr) {
		set = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(timeout.Milliseconds()))
	})
	return errors.Join(err, set)
}
