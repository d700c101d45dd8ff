package tcp

import (
	"fmt"
	"net"
	"net/netip"
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

// nearBuffer is the socket's send buffer between ranks of one host, of which the
// kernel grants the double, as it counts its own needs too. A frame of 1 MiB just fits:
// with less its end stays behind, for another call, which is a tenth of the time it
// takes. What is under way then stays in the processors' caches: 16 MiB take 2.3 ms
// instead of 3.2 with the buffer that the system would grow to. Between hosts it is
// left to the system, which fits it to the delay.
const nearBuffer = 640 << 10

// nearControl is the congestion control between ranks of one host, where nothing
// can be congested: every kernel has it, and it neither paces what leaves nor
// estimates bandwidths. Between hosts it is left to the system.
const nearControl = "reno"

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
	if sameHost(fd) {
		_ = unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, nearControl) // the system's does, too
		return os.NewSyscallError("setsockopt", unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, nearBuffer))
	}
	return nil
}

// sameHost tells whether both ends of a connection have the same address.
func sameHost(fd int) bool {
	mine, err := unix.Getsockname(fd)
	if err != nil {
		return false
	}
	theirs, err := unix.Getpeername(fd)
	return err == nil && hostOf(mine) == hostOf(theirs)
}

func hostOf(a unix.Sockaddr) netip.Addr {
	switch a := a.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrFrom4(a.Addr)
	case *unix.SockaddrInet6:
		return netip.AddrFrom16(a.Addr).Unmap()
	}
	return netip.Addr{}
}
