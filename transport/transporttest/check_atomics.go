package transporttest

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/golaunch/golaunch/transport"
)

var atomicChecks = []check{
	{"FetchAdd from many origins at once: every value is returned once", 4, fetchAddFromManyOrigins},
	{"CompareSwap from many origins at once: every swap wins once", 4, compareSwapFromManyOrigins},
	{"FetchAdd wraps around and CompareSwap leaves what it did not expect", 2, atomicsOnOneWord},
	{"an atomic does not touch its neighbours", 2, atomicsLeaveNeighbours},
	{"an atomic whose old value nobody wants", 2, atomicsWithoutOld},
}

const atomicRounds = 500

// word returns the value of an 8-byte region, through the connection.
func (n *node) word(s shared) (uint64, error) {
	var b [8]byte
	err := n.get(s.owner, b[:], s.part(0, 8))
	return binary.NativeEndian.Uint64(b[:]), err
}

// fetchAddFromManyOrigins: two goroutines of every rank, the owner's included,
// add 1. The old values are a permutation of 0 to the sum.
func fetchAddFromManyOrigins(t *testing.T, nodes []*node) {
	start(nodes...)
	s, err := nodes[1].share(8)
	ok(t, err)
	origins := 2 * len(nodes)
	tickets := make([]uint64, origins*atomicRounds)
	parallel(t, origins, func(i int) error {
		for k := range atomicRounds {
			old, err := nodes[i/2].fetchAdd(1, s.remote, 1)
			if err != nil {
				return err
			}
			tickets[i*atomicRounds+k] = old
		}
		return nil
	})
	sum, err := nodes[0].word(s)
	ok(t, err)
	if sum != uint64(len(tickets)) {
		t.Errorf("the sum of %d additions of 1 is %d", len(tickets), sum)
	}
	slices.Sort(tickets)
	for want, got := range tickets {
		if got != uint64(want) {
			t.Fatalf("the old values are not all different: %d instead of %d", got, want)
		}
	}
}

// compareSwapFromManyOrigins: each adds 1 with compare-and-swap, so a swap that
// took effect twice or not at all changes the sum.
func compareSwapFromManyOrigins(t *testing.T, nodes []*node) {
	start(nodes...)
	s, err := nodes[1].share(8)
	ok(t, err)
	origins := 2 * len(nodes)
	parallel(t, origins, func(i int) error {
		for range atomicRounds {
			if err := increment(nodes[i/2], s); err != nil {
				return err
			}
		}
		return nil
	})
	sum, err := nodes[0].word(s)
	ok(t, err)
	if sum != uint64(origins*atomicRounds) {
		t.Errorf("the sum of %d increments is %d", origins*atomicRounds, sum)
	}
}

func increment(n *node, s shared) error {
	expect := uint64(0)
	for {
		old, err := n.compareSwap(s.owner, s.remote, expect, expect+1)
		if err != nil || old == expect {
			return err
		}
		expect = old
	}
}

func atomicsOnOneWord(t *testing.T, nodes []*node) {
	n := nodes[0]
	start(n)
	s, err := nodes[1].share(8)
	ok(t, err)
	add := func(delta uint64) (uint64, error) { return n.fetchAdd(1, s.remote, delta) }
	swap := func(expect, new uint64) (uint64, error) { return n.compareSwap(1, s.remote, expect, new) }
	steps := []struct {
		name string
		old  uint64
		do   func() (uint64, error)
	}{
		{"add -1 to 0", 0, func() (uint64, error) { return add(^uint64(0)) }},
		{"add 3", ^uint64(0), func() (uint64, error) { return add(3) }},
		{"swap 7 for 9, which is not there", 2, func() (uint64, error) { return swap(7, 9) }},
		{"swap 2 for 9", 2, func() (uint64, error) { return swap(2, 9) }},
		{"swap 9 for 9", 9, func() (uint64, error) { return swap(9, 9) }},
		{"add 0", 9, func() (uint64, error) { return add(0) }},
	}
	for _, step := range steps {
		old, err := step.do()
		ok(t, err)
		if old != step.old {
			t.Errorf("%s: the old value was %#x, want %#x", step.name, old, step.old)
		}
	}
}

func atomicsLeaveNeighbours(t *testing.T, nodes []*node) {
	n := nodes[0]
	start(n)
	s, err := nodes[1].share(24)
	ok(t, err)
	ok(t, n.put(1, s.remote, pattern(1, 24)))
	_, err = n.fetchAdd(1, s.part(8, 8), ^uint64(0)>>1)
	ok(t, err)
	got := make([]byte, 24)
	ok(t, n.get(1, got, s.remote))
	want := pattern(1, 24)
	if string(got[:8]) != string(want[:8]) || string(got[16:]) != string(want[16:]) {
		t.Errorf("FetchAdd at offset 8 changed %x to %x", want, got)
	}
}

func atomicsWithoutOld(t *testing.T, nodes []*node) {
	n := nodes[0]
	start(n)
	s, err := nodes[1].share(8)
	ok(t, err)
	ok(t, n.run(1, func(c transport.Conn, op transport.OpID) error { return c.FetchAdd(s.remote, 5, nil, op) }))
	ok(t, n.run(1, func(c transport.Conn, op transport.OpID) error { return c.CompareSwap(s.remote, 5, 6, nil, op) }))
	got, err := n.word(s)
	ok(t, err)
	if got != 6 {
		t.Errorf("the word holds %d, want 6", got)
	}
}
