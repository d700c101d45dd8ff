package member

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"

	"github.com/golaunch/golaunch/launcher/internal/keys"
)

// DefaultPort is where members gossip if nothing else is said, TCP and UDP.
const DefaultPort = 7946

// Options say who this member is, and how it finds others.
type Options struct {
	// Name is unique in the cluster: letters, digits and -._, at most 63.
	Name string
	// Bind is an IP address; "": every interface, or 127.0.0.1 without a key.
	Bind string
	// Advertise is the IP address at which others find this member; "": Bind, or if
	// that is every interface, the one from which the first of Join is reached, or any
	// that is up.
	Advertise string
	// Port is for TCP and UDP; 0: any that is free.
	Port int
	// Keys are the cluster's; none: only loopback is bound.
	Keys    keys.Ring
	Profile Profile
	// Join are members to call, each a host or address, with a port unless it is
	// DefaultPort. A host name stands for all its addresses. Nobody need be there: they
	// are called until somebody is.
	Join []string
	Meta Meta
	// Snapshot is a file in which known members are kept for the next start; "": none.
	Snapshot string
	// Log is told what happens; nil: nobody is.
	Log *slog.Logger
}

// check says what is wrong with the options.
func (o *Options) check() error {
	if err := checkName(o.Name); err != nil {
		return err
	}
	if o.Port < 0 || o.Port > 65535 {
		return fmt.Errorf("gossip port %d: it is 0 to 65535", o.Port)
	}
	for _, a := range o.Join {
		if _, _, err := splitAddress(a); err != nil {
			return err
		}
	}
	return nil
}

// Check says what is wrong with options, as far as that can be told without using them.
func (o *Options) Check() error {
	err := o.check()
	if err == nil {
		_, err = o.Profile.settings()
	}
	if err != nil {
		return err
	}
	bound, err := o.bindAddr()
	if err == nil && o.Advertise != "" {
		_, err = o.advertiseAddr(bound)
	}
	return err
}

// bindAddr is the address to bind; an invalid one: every interface.
func (o *Options) bindAddr() (netip.Addr, error) {
	if o.Bind == "" && len(o.Keys) == 0 {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), nil
	}
	if o.Bind == "" {
		return netip.Addr{}, nil
	}
	a, err := netip.ParseAddr(o.Bind)
	if err != nil {
		return a, fmt.Errorf("bind %q: it is not an IP address", o.Bind)
	}
	if len(o.Keys) == 0 && !a.Unmap().IsLoopback() {
		return a, fmt.Errorf("bind %s: without a key only loopback may be bound, 127.0.0.1 for instance; golaunch keygen makes a key", a)
	}
	if a.IsUnspecified() {
		return netip.Addr{}, nil
	}
	return a.Unmap(), nil
}

// advertiseAddr is where others find this member.
func (o *Options) advertiseAddr(bound netip.Addr) (netip.Addr, error) {
	if o.Advertise != "" {
		a, err := netip.ParseAddr(o.Advertise)
		if err != nil || a.IsUnspecified() {
			return a, fmt.Errorf("advertise %q: it is not the IP address of a host", o.Advertise)
		}
		return a.Unmap(), nil
	}
	if bound.IsValid() {
		return bound, nil
	}
	for _, seed := range o.Join {
		if a, ok := towards(seed); ok {
			return a, nil
		}
	}
	return anyAddress()
}

// towards is the address of this host from which another is reached.
func towards(seed string) (netip.Addr, bool) {
	host, port, err := splitAddress(seed)
	if err != nil {
		return netip.Addr{}, false
	}
	c, err := net.Dial("udp", net.JoinHostPort(host, fmt.Sprint(port))) // sends nothing
	if err != nil {
		return netip.Addr{}, false
	}
	defer c.Close()
	a := c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap()
	return a, a.IsValid() && !a.IsLoopback()
}

// anyAddress is an address of an interface that is up: global, IPv4 if there is one.
func anyAddress() (netip.Addr, error) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return netip.Addr{}, err
	}
	best := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	for _, a := range addrs {
		p, err := netip.ParsePrefix(a.String())
		if err != nil || !p.Addr().IsGlobalUnicast() {
			continue
		}
		if best.IsLoopback() || best.Is6() && p.Addr().Is4() {
			best = p.Addr()
		}
	}
	return best, nil
}
