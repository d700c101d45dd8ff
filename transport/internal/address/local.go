package address

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// Local returns where a rank listens, at ports 0, and what it offers; Port is to
// be set to what the listener got. iface is the name of the only interface to be
// used, "": all that are up. loopback, without iface, restricts both to
// 127.0.0.1 and ::1, for jobs that do not leave the machine.
//
// Without either it listens at the unspecified address: one socket, which also
// takes what comes to addresses that the host is given later. An error names the
// interfaces that there are.
func Local(iface string, loopback bool) (listen []netip.AddrPort, offer Offer, err error) {
	links, err := readLinks()
	if err != nil {
		return nil, Offer{}, err
	}
	addrs, err := choose(links, iface, loopback)
	if err != nil {
		return nil, Offer{}, err
	}
	if iface == "" && !loopback {
		listen = []netip.AddrPort{netip.AddrPortFrom(netip.IPv6Unspecified(), 0)}
	} else {
		for _, a := range addrs {
			listen = append(listen, netip.AddrPortFrom(a.Addr(), 0))
		}
	}
	return listen, Offer{Host: thisHost(), Addrs: addrs}, nil
}

// A link is what of an interface matters here.
type link struct {
	name  string
	up    bool
	addrs []netip.Prefix
}

func readLinks() ([]link, error) {
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("listing the interfaces: %w", err)
	}
	var links []link
	for _, i := range interfaces {
		l := link{name: i.Name, up: i.Flags&net.FlagUp != 0}
		addrs, err := i.Addrs()
		if err != nil {
			continue // it has gone since it was listed
		}
		for _, a := range addrs {
			if p, ok := prefixOf(a); ok {
				l.addrs = append(l.addrs, p)
			}
		}
		links = append(links, l)
	}
	return links, nil
}

func prefixOf(a net.Addr) (netip.Prefix, bool) {
	n, is := a.(*net.IPNet)
	if !is {
		return netip.Prefix{}, false
	}
	ip, ok := netip.AddrFromSlice(n.IP)
	ones, _ := n.Mask.Size()
	p := netip.PrefixFrom(ip.Unmap(), ones)
	return p, ok && p.IsValid()
}

// choose returns what to offer of the links, the likeliest first.
func choose(links []link, iface string, loopback bool) ([]Addr, error) {
	if iface != "" {
		return chooseNamed(links, iface)
	}
	var all []Addr
	for _, l := range links {
		for _, a := range l.offered() {
			if !loopback || a.Addr().IsLoopback() {
				all = append(all, a)
			}
		}
	}
	if len(all) == 0 && loopback {
		return nil, fmt.Errorf("no interface that is up has a loopback address; there are %s", describe(links))
	} else if len(all) == 0 {
		return nil, fmt.Errorf("no interface that is up has an address for peers; there are %s", describe(links))
	}
	slices.SortStableFunc(all, byUse)
	return all, nil
}

func chooseNamed(links []link, name string) ([]Addr, error) {
	i := slices.IndexFunc(links, func(l link) bool { return l.name == name })
	why := errors.New("does not exist")
	if i >= 0 && !links[i].up {
		why = errors.New("is down")
	} else if i >= 0 {
		all := links[i].offered()
		slices.SortStableFunc(all, byUse)
		if len(all) > 0 {
			return all, nil
		}
		why = errors.New("has no address for peers")
	}
	return nil, fmt.Errorf("the interface %q %w; there are %s", name, why, describe(links))
}

// offered returns the addresses of a link that may be of use to a peer.
func (l link) offered() []Addr {
	var all []Addr
	for _, p := range l.addrs {
		other := p.Addr().IsLoopback() && p.Addr() != netip.IPv6Loopback() && p.Addr() != loopback4
		if l.up && usable(p.Addr()) && !other {
			all = append(all, Addr{Prefix: p, Bridge: isBridge(l.name)})
		}
	}
	return all
}

var loopback4 = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// byUse orders what is offered: what does not fit into an encoded offer should be
// of the least use.
func byUse(a, b Addr) int {
	return cmp.Or(
		cmp.Compare(a.use(), b.use()),
		cmp.Compare(a.Addr().BitLen(), b.Addr().BitLen()),
	)
}

func (a Addr) use() int {
	switch {
	case isLinkLocal4(a.Addr()):
		return 3
	case a.Bridge:
		return 2
	case a.Addr().IsLoopback():
		return 1
	}
	return 0
}

// isBridge tells by its name, which is all that container engines have in common,
// whether an interface connects the host's own containers or virtual machines.
func isBridge(name string) bool {
	return slices.ContainsFunc(bridges, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

var bridges = []string{"docker", "br-", "veth", "virbr", "vnet", "cni", "cali", "flannel", "podman", "lxcbr", "lxdbr", "incusbr", "vmnet", "vboxnet"}

// describe lists the links for an error.
func describe(links []link) string {
	var all []string
	for _, l := range links {
		var what []string
		for _, p := range l.addrs {
			what = append(what, p.Addr().String())
		}
		if !l.up {
			what = []string{"down"}
		} else if len(what) == 0 {
			what = []string{"no address"}
		}
		all = append(all, fmt.Sprintf("%s (%s)", l.name, strings.Join(what, ", ")))
	}
	return strings.Join(all, ", ")
}
