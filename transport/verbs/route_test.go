//go:build cgo && linux

package verbs

import (
	"strings"
	"testing"
)

func TestRouteTo(t *testing.T) {
	subnet := func(last byte) [16]byte { return [16]byte{0: 0xfe, 1: 0x80, 7: last, 15: 1} }
	roce := greeting{ethernet: true, gid: [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 1}}
	farther := greeting{ethernet: true, gid: [16]byte{10: 0xff, 11: 0xff, 12: 172, 15: 9}}
	fabric := greeting{lid: 3, gid: subnet(0)}
	near := greeting{lid: 0xbfff, gid: subnet(0)}
	other := greeting{lid: 7, gid: subnet(1)}
	virtual := greeting{lid: 0, gid: subnet(0)}
	strict := greeting{lid: 9, gid: subnet(0), global: true}
	for _, c := range []struct {
		name      string
		own, peer greeting
		want      route
		refusal   string
	}{
		{"RoCE", roce, roce, route{global: true}, ""},
		{"RoCE behind a router", roce, farther, route{global: true}, ""},
		{"InfiniBand", fabric, near, route{lid: 0xbfff}, ""},
		{"InfiniBand, to itself", fabric, fabric, route{lid: 3}, ""},
		{"a port without LID", fabric, virtual, route{global: true}, ""},
		{"from a port without LID", virtual, fabric, route{lid: 3}, ""},
		{"this port asks for addresses", strict, fabric, route{global: true, lid: 3}, ""},
		{"the other one does", fabric, strict, route{global: true, lid: 9}, ""},
		{"another subnet", fabric, other, route{}, "it is in subnet fe80000000000001"},
		{"InfiniBand to RoCE", fabric, roce, route{}, "its port is Ethernet, and this rank's is InfiniBand"},
		{"RoCE to InfiniBand", roce, fabric, route{}, "its port is InfiniBand, and this rank's is Ethernet"},
	} {
		got, err := routeTo(c.own, c.peer)
		if got != c.want || (err != nil) != (c.refusal != "") || err != nil && !strings.Contains(err.Error(), c.refusal) {
			t.Errorf("%s: %+v, %v; want %+v %s", c.name, got, err, c.want, c.refusal)
		}
	}
}
