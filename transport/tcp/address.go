package tcp

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"

	"github.com/golaunch/golaunch/transport/internal/address"
)

// An endpoint's address is its rank, so that another one's is noticed before
// anybody connects, and what it offers.
const rankBytes = 4

func encodeAddress(rank int, offer address.Offer) ([]byte, error) {
	b, err := address.Encode(offer)
	if err != nil {
		return nil, err
	}
	return append(binary.LittleEndian.AppendUint32(nil, uint32(rank)), b...), nil
}

func decodeAddress(rank int, b []byte) (address.Offer, error) {
	if len(b) < rankBytes {
		return address.Offer{}, fmt.Errorf("an address of %d bytes", len(b))
	}
	if other := binary.LittleEndian.Uint32(b); other != uint32(rank) {
		return address.Offer{}, fmt.Errorf("it is the address of rank %d", other)
	}
	return address.Decode(b[rankBytes:])
}

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
