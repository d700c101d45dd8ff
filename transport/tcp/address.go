package tcp

import (
	"net/netip"
	"slices"

	"github.com/golaunch/golaunch/transport/internal/address"
)

// onlyFamily leaves IPv4 or IPv6 only; 0: both.
func onlyFamily(family int, at []netip.AddrPort, offer address.Offer) ([]netip.AddrPort, address.Offer) {
	if family == 0 {
		return at, offer
	}
	other := func(ip netip.Addr) bool { return ip.Is4() != (family == 4) }
	at = slices.DeleteFunc(at, func(a netip.AddrPort) bool { return other(a.Addr()) })
	offer.Addrs = slices.DeleteFunc(offer.Addrs, func(a address.Addr) bool { return other(a.Addr()) })
	return at, offer
}
