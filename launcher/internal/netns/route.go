package netns

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// A routeSocket asks the kernel for changes of one namespace's interfaces: the one
// that the thread was in that opened it.
type routeSocket struct {
	fd int

	mu       sync.Mutex // one request at a time
	sequence uint32
}

func openRoute() (*routeSocket, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	return &routeSocket{fd: fd}, nil
}

func (s *routeSocket) close() error { return unix.Close(s.fd) }

// ask sends a request and waits for the kernel's answer, which comes at once.
func (s *routeSocket) ask(m message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sequence++
	if err := unix.Sendto(s.fd, m.finish(s.sequence), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return os.NewSyscallError("sendto", err)
	}
	answer := make([]byte, os.Getpagesize())
	n, _, err := unix.Recvfrom(s.fd, answer, 0)
	if err != nil {
		return os.NewSyscallError("recvfrom", err)
	}
	return s.answered(answer[:n])
}

// answered finds the error number in an acknowledgement; 0 is success.
func (s *routeSocket) answered(b []byte) error {
	const number = unix.SizeofNlMsghdr
	if len(b) < number+4 || binary.NativeEndian.Uint16(b[4:]) != unix.NLMSG_ERROR || binary.NativeEndian.Uint32(b[8:]) != s.sequence {
		return fmt.Errorf("netlink: %d bytes that are no answer to request %d", len(b), s.sequence)
	}
	if code := int32(binary.NativeEndian.Uint32(b[number:])); code != 0 {
		return unix.Errno(-code)
	}
	return nil
}

// change sets those flags of an interface that mask names.
func (s *routeSocket) change(name string, flags, mask uint32) error {
	m := newMessage(unix.RTM_NEWLINK, 0)
	m.link(0, flags, mask)
	m.text(unix.IFLA_IFNAME, name)
	return s.ask(m)
}

// cable makes two interfaces: what goes into one comes out of the other, which is
// in another namespace.
func (s *routeSocket) cable(name string, far *space, farName string) error {
	m := newMessage(unix.RTM_NEWLINK, unix.NLM_F_CREATE|unix.NLM_F_EXCL)
	m.link(0, 0, 0)
	m.text(unix.IFLA_IFNAME, name)
	m.nest(unix.IFLA_LINKINFO, func() {
		m.text(unix.IFLA_INFO_KIND, "veth")
		m.nest(unix.IFLA_INFO_DATA, func() {
			m.nest(vethInfoPeer, func() {
				m.link(0, 0, 0)
				m.text(unix.IFLA_IFNAME, farName)
				m.number(unix.IFLA_NET_NS_FD, int(far.file.Fd()))
			})
		})
	})
	return s.ask(m)
}

// vethInfoPeer is VETH_INFO_PEER of <linux/veth.h>.
const vethInfoPeer = 1

// bridge makes a switch without ports.
func (s *routeSocket) bridge(name string) error {
	m := newMessage(unix.RTM_NEWLINK, unix.NLM_F_CREATE|unix.NLM_F_EXCL)
	m.link(0, 0, 0)
	m.text(unix.IFLA_IFNAME, name)
	m.nest(unix.IFLA_LINKINFO, func() { m.text(unix.IFLA_INFO_KIND, "bridge") })
	return s.ask(m)
}

// attach makes an interface a port of a bridge; bridge 0: of none.
func (s *routeSocket) attach(name string, bridge int) error {
	m := newMessage(unix.RTM_NEWLINK, 0)
	m.link(0, 0, 0)
	m.text(unix.IFLA_IFNAME, name)
	m.number(unix.IFLA_MASTER, bridge)
	return s.ask(m)
}

// address gives an interface one more address, or one that it has already.
func (s *routeSocket) address(index int, a netip.Prefix) error {
	m := newMessage(unix.RTM_NEWADDR, unix.NLM_F_CREATE|unix.NLM_F_REPLACE)
	m.address(index, a)
	return s.ask(m)
}

// index is an interface's number in the namespace.
func (s *space) index(name string) (index int, err error) {
	err = s.do(func() error {
		i, err := net.InterfaceByName(name)
		if err != nil {
			return fmt.Errorf("interface %s: %w", name, err)
		}
		index = i.Index
		return nil
	})
	return index, err
}

// plug gives an interface its addresses and switches it on.
func (s *space) plug(name string, flags uint32, addrs ...netip.Prefix) error {
	index, err := s.index(name)
	if err != nil {
		return err
	}
	if err := s.links.change(name, unix.IFF_UP|flags, unix.IFF_UP|flags); err != nil {
		return fmt.Errorf("interface %s: %w", name, err)
	}
	for _, a := range addrs {
		if err := s.links.address(index, a); err != nil {
			return fmt.Errorf("interface %s: %v: %w", name, a, err)
		}
	}
	return nil
}
