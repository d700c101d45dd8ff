package handshake

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// bindAttempts is how often another port is tried when the one that the first
// address got is taken at another.
const bindAttempts = 32

// bind opens a socket at each address, those of port 0 at one port.
func bind(at []netip.AddrPort) ([]*net.TCPListener, error) {
	if len(at) == 0 {
		return nil, errors.New("no address to listen at")
	}
	var sockets []*net.TCPListener
	var err error
	for range bindAttempts {
		sockets, err = bindOnce(at)
		if !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	return sockets, err
}

func bindOnce(at []netip.AddrPort) ([]*net.TCPListener, error) {
	var sockets []*net.TCPListener
	var missing []error
	var port uint16
	for _, a := range at {
		if a.Port() == 0 {
			a = netip.AddrPortFrom(a.Addr(), port)
		}
		s, err := bindTo(a)
		if isMissing(err) {
			missing = append(missing, err)
			continue
		}
		if err != nil {
			closeAll(sockets)
			return nil, err
		}
		sockets = append(sockets, s)
		port = uint16(s.Addr().(*net.TCPAddr).Port)
	}
	if len(sockets) == 0 {
		return nil, errors.Join(missing...)
	}
	return sockets, nil
}

// isMissing: the machine has no such address, or not the family.
func isMissing(err error) bool {
	return errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT)
}

// bindTo listens at one address. An unspecified one is given as no address: the
// standard library then takes both families in one socket where it can. Neither
// keepalive (the transport's business) nor multipath TCP (it costs on every
// operation what only a second path would bring back).
func bindTo(at netip.AddrPort) (*net.TCPListener, error) {
	config := net.ListenConfig{KeepAlive: -1, Control: unpaced}
	config.SetMultipathTCP(false)
	name := at.String()
	if at.Addr().IsUnspecified() {
		name = fmt.Sprintf(":%d", at.Port())
	}
	s, err := config.Listen(context.Background(), "tcp", name)
	if err != nil {
		return nil, err
	}
	return s.(*net.TCPListener), nil
}

func closeAll(sockets []*net.TCPListener) {
	for _, s := range sockets {
		// It has accepted nothing: there is nothing to lose.
		_ = s.Close()
	}
}
