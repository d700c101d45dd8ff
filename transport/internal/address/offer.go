package address

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
)

// MaxEncoded is the longest encoded offer, in bytes.
const MaxEncoded = 240

// An Offer is where a rank says it can be found.
type Offer struct {
	// Port is the one at which it listens, at each of the addresses.
	Port uint16
	// Host is where it runs.
	Host Host
	// Addrs are the addresses of its host, the likeliest first.
	Addrs []Addr
}

// A Host identifies a network stack; the zero Host is an unknown one.
type Host [16]byte

// An Addr is an address of an interface.
type Addr struct {
	// Prefix is the address itself, and how many of its bits name the subnet.
	netip.Prefix
	// Bridge: its interface looks like one that connects the host's own containers
	// and leads nowhere else.
	Bridge bool
}

// The encoding. All numbers are little-endian; addresses are in network order.
//
//	0    layout, 1
//	1    port, u16, not 0
//	3    host, 16 bytes
//	19   number of addresses, not 0
//	20   each: flags, prefix length, 4 or 16 bytes
const (
	layout     = 1
	headerSize = 20

	flagV6     = 1
	flagBridge = 2
)

// Encode returns at most MaxEncoded bytes that Decode understands. Addresses at
// the end that do not fit are left out. It is an error to offer no port, no
// address, or one that no peer could use.
func Encode(o Offer) ([]byte, error) {
	if o.Port == 0 || len(o.Addrs) == 0 {
		return nil, fmt.Errorf("encoding an offer: port %d at %d addresses", o.Port, len(o.Addrs))
	}
	b := append(make([]byte, 0, MaxEncoded), layout)
	b = binary.LittleEndian.AppendUint16(b, o.Port)
	b = append(append(b, o.Host[:]...), 0)
	for _, a := range o.Addrs {
		if !usable(a.Addr()) || !a.IsValid() {
			return nil, fmt.Errorf("encoding an offer: %v is of no use to a peer", a)
		}
		longer := a.append(b)
		if len(longer) > MaxEncoded {
			break
		}
		b = longer
		b[headerSize-1]++
	}
	return b, nil
}

func (a Addr) append(b []byte) []byte {
	var flags byte
	if a.Addr().Is6() {
		flags |= flagV6
	}
	if a.Bridge {
		flags |= flagBridge
	}
	return append(append(b, flags, byte(a.Bits())), a.Addr().AsSlice()...)
}

var errShort = errors.New("it ends early")

// Decode reads what Encode has written. It is strict: there is one encoding of
// an offer, and no byte may be missing, left over or meaningless.
func Decode(b []byte) (Offer, error) {
	o, err := decode(b)
	if err != nil {
		return Offer{}, fmt.Errorf("decoding an offer of %d bytes: %w", len(b), err)
	}
	return o, nil
}

func decode(b []byte) (Offer, error) {
	switch {
	case len(b) < headerSize:
		return Offer{}, errShort
	case len(b) > MaxEncoded:
		return Offer{}, fmt.Errorf("it is longer than %d", MaxEncoded)
	case b[0] != layout:
		return Offer{}, fmt.Errorf("it has layout %d, not %d", b[0], layout)
	}
	o := Offer{Port: binary.LittleEndian.Uint16(b[1:]), Host: Host(b[3:])}
	count := int(b[headerSize-1])
	if o.Port == 0 || count == 0 {
		return Offer{}, fmt.Errorf("port %d at %d addresses", o.Port, count)
	}
	rest := b[headerSize:]
	for range count {
		var a Addr
		var err error
		if a, rest, err = decodeAddr(rest); err != nil {
			return Offer{}, err
		}
		o.Addrs = append(o.Addrs, a)
	}
	if len(rest) > 0 {
		return Offer{}, fmt.Errorf("%d bytes too many", len(rest))
	}
	return o, nil
}

// decodeAddr reads one address and returns what is behind it.
func decodeAddr(b []byte) (Addr, []byte, error) {
	if len(b) < 2 {
		return Addr{}, nil, errShort
	}
	flags, bits, n := b[0], int(b[1]), 4
	if flags&^(flagV6|flagBridge) != 0 {
		return Addr{}, nil, fmt.Errorf("an address with flags %#x", flags)
	}
	if flags&flagV6 != 0 {
		n = 16
	}
	if len(b) < 2+n {
		return Addr{}, nil, errShort
	}
	ip, _ := netip.AddrFromSlice(b[2 : 2+n]) // either length is one
	a := Addr{Prefix: netip.PrefixFrom(ip, bits), Bridge: flags&flagBridge != 0}
	if !usable(ip) || !a.IsValid() {
		return Addr{}, nil, fmt.Errorf("%v with a prefix of %d bits is of no use", ip, bits)
	}
	return a, b[2+n:], nil
}

// usable: a peer, if only on the same host, could connect to it.
func usable(ip netip.Addr) bool {
	if !ip.IsValid() || ip.Is4In6() || ip.Zone() != "" {
		return false
	}
	return ip.IsGlobalUnicast() || ip.IsLoopback() || isLinkLocal4(ip)
}

func isLinkLocal4(ip netip.Addr) bool { return ip.Is4() && ip.IsLinkLocalUnicast() }
