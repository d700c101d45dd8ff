//go:build cgo && linux

package verbs

import (
	"fmt"
	"slices"
)

// A route is how packets find the other end: what of an address handle depends on the
// two ports. The rest is 0: the service level that a fabric has by default, and the first
// of the LIDs that a port may have.
type route struct {
	global bool   // by address (GID), in a header of its own (GRH)
	lid    uint16 // by the other port's number in the subnet; 0: RoCE, which has none
}

// prefixBytes is how much of an InfiniBand port's address is its subnet's.
const prefixBytes = 8

// routeTo returns the route from one port to another. RoCE has addresses only. InfiniBand
// has LIDs, which a subnet's manager gives out and a subnet's switches know: an address
// goes along where a port asks for that, or has no LID of its own as a virtual one may. A
// router's LID only the manager could tell.
func routeTo(own, peer greeting) (route, error) {
	switch {
	case own.ethernet != peer.ethernet:
		return route{}, fmt.Errorf("its port is %s, and this rank's is %s", peer.link(), own.link())
	case own.ethernet:
		return route{global: true}, nil
	case !slices.Equal(own.gid[:prefixBytes], peer.gid[:prefixBytes]):
		return route{}, fmt.Errorf("it is in subnet %x, and this rank in %x: no route leads there", peer.gid[:prefixBytes], own.gid[:prefixBytes])
	}
	return route{global: own.global || peer.global || peer.lid == 0, lid: peer.lid}, nil
}

func (g *greeting) link() string {
	if g.ethernet {
		return "Ethernet"
	}
	return "InfiniBand"
}
