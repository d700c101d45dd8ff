package handshake

import (
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// unpaced sets the congestion control of a socket that cannot leave the machine, as
// long as it has no connection. The system's own one may pace what leaves, and sockets
// that were paced once stay so: each packet waits for a timer.
func unpaced(_, address string, raw syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().IsLoopback() {
		return nil
	}
	return raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno") // the system's does, too
	})
}
