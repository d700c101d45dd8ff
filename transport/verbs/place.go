//go:build cgo && linux

package verbs

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A place is a port of a device, and the address (GID) that is used there.
type place struct {
	device   string
	port     int
	ethernet bool // RoCE
	index    int  // of gid in the port's table
	gid      [16]byte
	net      string // the network interface behind it, for RoCE
}

// choosePlace looks for an active port among the devices that libibverbs knows, in
// /sys/class/infiniband: the device wanted, else the one behind the interface wanted,
// else the first. "" is no wish.
func choosePlace(sys fs.FS, devices []string, device, iface string) (place, error) {
	if len(devices) == 0 {
		return place{}, errors.New("this host has no RDMA device")
	}
	var refused []error
	for _, name := range devices {
		if device != "" && name != device {
			continue
		}
		at, err := activePort(sys, name, iface)
		if err == nil {
			return at, nil
		}
		refused = append(refused, fmt.Errorf("device %s: %w", name, err))
	}
	if len(refused) == 0 {
		return place{}, fmt.Errorf("this host has no RDMA device %s, but %s", device, strings.Join(devices, ", "))
	}
	return place{}, errors.Join(refused...)
}

func activePort(sys fs.FS, device, iface string) (place, error) {
	ports, err := fs.ReadDir(sys, path.Join(device, "ports"))
	if err != nil {
		return place{}, err
	}
	refused := errors.New("it has no port")
	for _, p := range ports {
		at := place{device: device}
		if at.port, err = strconv.Atoi(p.Name()); err != nil {
			continue
		}
		if refused = at.choose(sys, path.Join(device, "ports", p.Name()), iface); refused == nil {
			return at, nil
		}
	}
	return place{}, refused
}

// choose fills in what the port in dir is like. The error says why it does not serve.
func (at *place) choose(sys fs.FS, dir, iface string) error {
	if state := line(sys, path.Join(dir, "state")); !strings.HasSuffix(state, ": ACTIVE") {
		return fmt.Errorf("port %d is not active, but %q", at.port, state)
	}
	at.ethernet = line(sys, path.Join(dir, "link_layer")) == "Ethernet"
	entries, err := fs.ReadDir(sys, path.Join(dir, "gids"))
	if err != nil {
		return err
	}
	best, empty := 0, 0
	for index := 0; index < len(entries) && empty < longestGap; index++ {
		name := strconv.Itoa(index)
		gid, used, likely := at.rate(sys, dir, name, iface)
		if empty++; used {
			empty = 0
		}
		if likely > best {
			best, at.index, at.gid = likely, index, gid
			at.net = line(sys, path.Join(dir, "gid_attrs/ndevs", name))
		}
	}
	if best == 0 {
		return fmt.Errorf("port %d has no address that serves (RoCE v2, interface %q)", at.port, iface)
	}
	return nil
}

// longestGap is how many entries in a row that are not used end an address table. It is
// filled from its front, and gaps are what addresses have left that were taken away; but
// it may have 1024 entries, and each is a file.
const longestGap = 64

// rate returns an entry of the port's address table, whether it is used, and how much
// it is worth; 0: nothing. RoCE v1 does not pass routers and is left alone. An IPv4 address has been
// given on purpose; a link-local one is there always and leads nowhere with some
// switches' configuration.
func (at *place) rate(sys fs.FS, dir, index, iface string) (gid [16]byte, used bool, likely int) {
	ip, err := netip.ParseAddr(line(sys, path.Join(dir, "gids", index)))
	if err != nil || ip.IsUnspecified() {
		return gid, false, 0
	}
	gid = ip.As16()
	if slices.Equal(gid[8:], make([]byte, 8)) { // InfiniBand: no entry
		return gid, false, 0
	}
	switch {
	case !at.ethernet:
		return gid, true, 1
	case line(sys, path.Join(dir, "gid_attrs/types", index)) != "RoCE v2":
		return gid, true, 0
	case iface != "" && line(sys, path.Join(dir, "gid_attrs/ndevs", index)) != iface:
		return gid, true, 0
	case ip.Is4In6():
		return gid, true, 3
	case ip.IsLinkLocalUnicast():
		return gid, true, 1
	}
	return gid, true, 2
}

// line is a file's content; "" if it cannot be read, as is usual for entries that are
// not in use.
func line(sys fs.FS, name string) string {
	text, err := fs.ReadFile(sys, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
