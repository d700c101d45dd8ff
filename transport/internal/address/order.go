package address

import (
	"cmp"
	"math/bits"
	"net/netip"
	"slices"
)

// A class is how likely an address leads to its rank; the package's
// documentation says what belongs to which.
type class int

const (
	sameHost class = iota
	neighbour
	global
	bridge
	linkLocal
	doubtful
	nowhere // not to be tried
)

// Order returns where a rank that offers mine should try to reach the one that
// offers theirs, the likeliest first. It may be empty.
func Order(mine, theirs Offer) []netip.AddrPort {
	var all []candidate
	for _, a := range theirs.Addrs {
		c := candidate{to: a, class: classify(mine, theirs.Host, a), common: common(mine.Addrs, a)}
		if c.class != nowhere {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, candidate.compare)
	var order []netip.AddrPort
	for _, c := range all {
		order = append(order, netip.AddrPortFrom(c.to.Addr(), theirs.Port))
	}
	return order
}

type candidate struct {
	to     Addr
	class  class
	common int // bits in common with an address of mine
}

func (c candidate) compare(d candidate) int {
	return cmp.Or(
		cmp.Compare(c.class, d.class),
		cmp.Compare(c.to.Addr().BitLen(), d.to.Addr().BitLen()),
		cmp.Compare(d.common, c.common),
	)
}

func classify(mine Offer, host Host, a Addr) class {
	together := mine.Host == host
	unknown := mine.Host == Host{} || host == Host{}
	own := slices.ContainsFunc(mine.Addrs, func(m Addr) bool { return m.Addr() == a.Addr() })
	switch {
	case (own || a.Addr().IsLoopback()) && unknown:
		return doubtful
	case (own || a.Addr().IsLoopback()) && !together:
		return nowhere
	case a.Addr().IsLoopback():
		return sameHost
	case own:
		return neighbour
	case isLinkLocal4(a.Addr()):
		return linkLocal
	case a.Bridge:
		return bridge
	case adjacent(mine.Addrs, a):
		return neighbour
	case dockerDefault.Contains(a.Addr()):
		return bridge
	}
	return global
}

// dockerDefault is what docker gives its first bridge on every host, and the
// containers behind it, whose own interfaces look like any other.
var dockerDefault = netip.PrefixFrom(netip.AddrFrom4([4]byte{172, 17}), 16)

// adjacent: the address is in a subnet of mine, and I in its.
func adjacent(mine []Addr, a Addr) bool {
	return slices.ContainsFunc(mine, func(m Addr) bool {
		return !m.Bridge && m.Contains(a.Addr()) && a.Contains(m.Addr())
	})
}

// common returns how many leading bits the address has in common with one of
// mine, at most. Bridges are compared with bridges.
func common(mine []Addr, a Addr) int {
	most := 0
	for _, m := range mine {
		if m.Bridge == a.Bridge && m.Addr().BitLen() == a.Addr().BitLen() {
			most = max(most, commonBits(m.Addr().AsSlice(), a.Addr().AsSlice()))
		}
	}
	return most
}

func commonBits(a, b []byte) int {
	for i := range a {
		if diff := a[i] ^ b[i]; diff != 0 {
			return 8*i + bits.LeadingZeros8(diff)
		}
	}
	return 8 * len(a)
}
