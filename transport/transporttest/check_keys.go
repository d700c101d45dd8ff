package transporttest

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/golaunch/golaunch/transport"
)

var keyChecks = []check{
	{"a key nobody handed out is ErrKey", 2, unknownKeyIsErrKey},
	{"a closed region is ErrKey, also when memory is registered again", 2, closedRegionIsErrKey},
	{"regions that are open stay when others close", 2, otherRegionsStay},
	{"many regions", 2, manyRegions},
	{"a region may be closed twice, and after the endpoint", 1, regionClosesTwice},
}

func unknownKeyIsErrKey(t *testing.T, nodes []*node) {
	n := nodes[0]
	start(n)
	s, err := nodes[1].share(64)
	ok(t, err)
	for _, key := range []uint64{0, 1, s.remote.Key + 1, s.remote.Key ^ 1<<63, ^uint64(0), 1<<24 - 1} {
		if key == s.remote.Key {
			continue
		}
		ok(t, everythingIsErrKey(n, 1, transport.Remote{Key: key, Len: 8}))
	}
}

func everythingIsErrKey(n *node, target int, r transport.Remote) error {
	_, add := n.fetchAdd(target, r, 1)
	_, swap := n.compareSwap(target, r, 0, 1)
	all := map[string]error{
		"Put": n.put(target, r, make([]byte, 8)), "Get": n.get(target, make([]byte, 8), r),
		"FetchAdd": add, "CompareSwap": swap,
	}
	for name, err := range all {
		if !errors.Is(err, transport.ErrKey) {
			return fmt.Errorf("%s with key %#x: got error %v, want %v", name, r.Key, err, transport.ErrKey)
		}
	}
	return nil
}

func closedRegionIsErrKey(t *testing.T, nodes []*node) {
	n := nodes[0]
	start(n)
	key, offset, mem := nodes[1].job.Alloc(1, 64)
	var closed []transport.Remote
	for range 5 {
		region, err := nodes[1].endpoint.Register(key, offset, mem)
		ok(t, err)
		ok(t, n.put(1, region.Remote(), pattern(1, 64)))
		ok(t, region.Close())
		closed = append(closed, region.Remote())
		for _, r := range closed {
			ok(t, everythingIsErrKey(n, 1, r))
		}
	}
	region, err := nodes[1].endpoint.Register(key, offset, mem)
	ok(t, err)
	for _, r := range closed {
		ok(t, everythingIsErrKey(n, 1, r))
	}
	ok(t, n.put(1, region.Remote(), pattern(2, 64)))
}

func otherRegionsStay(t *testing.T, nodes []*node) {
	start(nodes[0])
	var all [10]shared
	for i := range all {
		var err error
		all[i], err = nodes[1].share(64)
		ok(t, err)
		ok(t, putGetCompare(nodes[0], all[i], 0, pattern(uint64(i), 64)))
	}
	for i := 0; i < len(all); i += 2 {
		ok(t, all[i].region.Close())
	}
	for i := 1; i < len(all); i += 2 {
		got := make([]byte, 64)
		ok(t, nodes[0].get(1, got, all[i].remote))
		if !bytes.Equal(got, pattern(uint64(i), 64)) {
			t.Errorf("region %d changed when others were closed", i)
		}
	}
}

func manyRegions(t *testing.T, nodes []*node) {
	start(nodes[0])
	var all [300]shared
	for i := range all {
		var err error
		all[i], err = nodes[1].share(8)
		ok(t, err)
	}
	for i := range all {
		ok(t, nodes[0].put(1, all[i].remote, pattern(uint64(i), 8)))
	}
	for i := range all {
		got := make([]byte, 8)
		ok(t, nodes[0].get(1, got, all[i].remote))
		if !bytes.Equal(got, pattern(uint64(i), 8)) {
			t.Fatalf("region %d holds another one's bytes", i)
		}
	}
}

func regionClosesTwice(t *testing.T, nodes []*node) {
	a, err := nodes[0].share(8)
	ok(t, err)
	b, err := nodes[0].share(8)
	ok(t, err)
	ok(t, a.region.Close())
	ok(t, a.region.Close())
	ok(t, nodes[0].endpoint.Close())
	ok(t, b.region.Close())
}
