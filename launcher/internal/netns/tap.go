package netns

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Tap returns a file from which each Read takes one Ethernet frame that passes the
// switch, as far as the reader keeps up.
func (n *Network) Tap() (*os.File, error) {
	var tap *os.File
	err := n.spaces[0].do(func() error {
		// All protocols, in the network's byte order.
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.ETH_P_ALL<<8)
		if err != nil {
			return fmt.Errorf("tap: %w", os.NewSyscallError("socket", err))
		}
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 1<<22) // the more the better
		tap = os.NewFile(uintptr(fd), "tap")
		return nil
	})
	return tap, err
}
