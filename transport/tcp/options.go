package tcp

import (
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// detach returns a descriptor of conn's socket and closes conn: what remains of
// the connection is the descriptor alone.
func detach(conn net.Conn) (int, error) {
	defer conn.Close()
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return -1, fmt.Errorf("a connection of type %T", conn)
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return -1, err
	}
	fd, dupErr := -1, error(nil)
	err = raw.Control(func(old uintptr) { fd, dupErr = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0) })
	if err == nil {
		err = os.NewSyscallError("fcntl", dupErr)
	}
	return fd, err
}

// setOptions: nothing is held back to be sent together, which is done above; a
// peer whose host is gone, or which does not take what is sent, is found in about
// the timeout.
func setOptions(fd int, timeout time.Duration) error {
	seconds := max(1, int(timeout/time.Second))
	for _, o := range []struct{ level, name, value int }{
		{unix.IPPROTO_TCP, unix.TCP_NODELAY, 1},
		{unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(timeout / time.Millisecond)},
		{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, max(1, seconds/2)},
		{unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, max(1, seconds/10)},
		{unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 5},
		{unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
	} {
		if err := unix.SetsockoptInt(fd, o.level, o.name, o.value); err != nil {
			return fmt.Errorf("setsockopt %d/%d: %w", o.level, o.name, err)
		}
	}
	return nil
}
