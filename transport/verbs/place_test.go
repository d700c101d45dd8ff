//go:build cgo && linux

package verbs

import (
	"net/netip"
	"strings"
	"testing"
	"testing/fstest"
)

// port is the files of one port in /sys/class/infiniband: addresses by index, each
// "address|type|interface".
func port(dir, state, layer string, addresses ...string) fstest.MapFS {
	sys := fstest.MapFS{
		dir + "/state":      {Data: []byte(state + "\n")},
		dir + "/link_layer": {Data: []byte(layer + "\n")},
	}
	for i, a := range addresses {
		index := string(rune('0' + i))
		parts := strings.Split(a, "|")
		for k, name := range []string{"/gids/", "/gid_attrs/types/", "/gid_attrs/ndevs/"} {
			sys[dir+name+index] = &fstest.MapFile{Data: []byte(parts[k] + "\n")}
		}
	}
	return sys
}

func joined(all ...fstest.MapFS) fstest.MapFS {
	sys := fstest.MapFS{}
	for _, one := range all {
		for name, file := range one {
			sys[name] = file
		}
	}
	return sys
}

const (
	linkLocal = "fe80:0000:0000:0000:5054:00ff:fe09:0001"
	global    = "2001:0db8:0000:0000:0000:0000:0000:0007"
	mapped    = "0000:0000:0000:0000:0000:ffff:0a09:0001"
	none      = "0000:0000:0000:0000:0000:0000:0000:0000"
	native    = "fe80:0000:0000:0000:0002:c903:0000:0001"
	noNative  = "fe80:0000:0000:0000:0000:0000:0000:0000"
)

func TestChoosePlace(t *testing.T) {
	roce := joined(
		port("down/ports/1", "1: DOWN", "Ethernet", mapped+"|RoCE v2|eth9"),
		port("mlx5_0/ports/1", "4: ACTIVE", "Ethernet", linkLocal+"|IB/RoCE v1|eth0", linkLocal+"|RoCE v2|eth0",
			mapped+"|IB/RoCE v1|eth0", mapped+"|RoCE v2|eth0", none+"||"),
		port("mlx5_1/ports/1", "4: ACTIVE", "Ethernet", linkLocal+"|RoCE v2|eth1", global+"|RoCE v2|eth1"),
	)
	fabric := joined(
		port("mlx4_0/ports/1", "2: INIT", "InfiniBand", native+"||"),
		port("mlx4_0/ports/2", "4: ACTIVE", "InfiniBand", noNative+"||", native+"||"),
	)
	cases := []struct {
		name          string
		sys           fstest.MapFS
		devices       string
		device, iface string
		want          place
		refusal       string
	}{
		{"IPv4 by RoCE v2", roce, "down mlx5_0 mlx5_1", "", "", place{device: "mlx5_0", port: 1, ethernet: true, index: 3, net: "eth0"}, ""},
		{"a device by name", roce, "down mlx5_0 mlx5_1", "mlx5_1", "", place{device: "mlx5_1", port: 1, ethernet: true, index: 1, net: "eth1"}, ""},
		{"a device by interface", roce, "down mlx5_0 mlx5_1", "", "eth1", place{device: "mlx5_1", port: 1, ethernet: true, index: 1, net: "eth1"}, ""},
		{"InfiniBand, second port", fabric, "mlx4_0", "", "", place{device: "mlx4_0", port: 2, index: 1}, ""},
		{"no device", roce, "", "", "", place{}, "no RDMA device"},
		{"not that device", roce, "mlx5_0", "mlx5_7", "", place{}, "no RDMA device mlx5_7, but mlx5_0"},
		{"not that interface", roce, "mlx5_0", "", "eth7", place{}, `interface "eth7"`},
		{"not active", roce, "down", "", "", place{}, `port 1 is not active, but "1: DOWN"`},
	}
	for _, c := range cases {
		got, err := choosePlace(c.sys, strings.Fields(c.devices), c.device, c.iface)
		if c.refusal != "" {
			if err == nil || !strings.Contains(err.Error(), c.refusal) {
				t.Errorf("%s: %+v, %v; want an error with %q", c.name, got, err, c.refusal)
			}
			continue
		}
		gid := netip.AddrFrom16(got.gid)
		got.gid = [16]byte{}
		if err != nil || got != c.want || !gid.IsValid() || gid.IsUnspecified() {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
	}
}
