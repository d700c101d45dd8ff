package transporttest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/golaunch/golaunch/transport"
)

var transferChecks = []check{
	{"Get returns what Put wrote, at every size and edge", 2, getReturnsWhatPutWrote},
	{"Put and Get of several MiB", 2, putAndGetOfSeveralMiB},
	{"Put and Get of nothing are allowed up to the very end", 2, nothingIsAllowedUpToTheEnd},
	{"a Put shorter than its Remote leaves the rest alone", 2, shortPutLeavesTheRest},
	{"the source of a Put may be reused at once", 2, sourceOfPutMayBeReused},
	{"one-sided operations complete while the target never polls", 2, oneSidedNeedsNoPoll},
	{"a rank reaches its own memory through a connection to itself", 1, rankReachesItself},
	{"mapped memory is the region itself", 2, mappedMemoryIsTheRegion},
}

var transferSizes = []int{0, 1, 7, 8, 4096, 64<<10 + 3}

// pattern returns n bytes that differ from those of another seed.
func pattern(seed uint64, n int) []byte {
	b := make([]byte, n)
	random := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), 1})
	_, _ = random.Read(b)
	return b
}

func getReturnsWhatPutWrote(t *testing.T, nodes []*node) {
	start(nodes[0])
	const room = 70 << 10
	s, err := nodes[1].share(room)
	ok(t, err)
	for i, size := range transferSizes {
		for _, offset := range []int{0, 1, 4093, room - size} {
			want := pattern(uint64(i), size)
			ok(t, putGetCompare(nodes[0], s, offset, want))
		}
	}
}

// putGetCompare puts want into s and looks at all of s: through Get, and, after
// a message has ordered it, at the owner.
func putGetCompare(n *node, s shared, offset int, want []byte) error {
	before := make([]byte, len(s.mem))
	after := make([]byte, len(s.mem))
	if err := n.get(s.owner, before, s.remote); err != nil {
		return err
	}
	if err := n.put(s.owner, s.part(int64(offset), int64(len(want))), want); err != nil {
		return err
	}
	if err := n.get(s.owner, after, s.remote); err != nil {
		return err
	}
	copy(before[offset:], want)
	if !bytes.Equal(before, after) {
		return fmt.Errorf("Put of %d bytes at offset %d: the region differs at byte %d", len(want), offset, mismatch(before, after))
	}
	return nil
}

func mismatch(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

func putAndGetOfSeveralMiB(t *testing.T, nodes []*node) {
	start(nodes[0])
	const size = 5<<20 + 3
	s, err := nodes[1].share(size + 5)
	ok(t, err)
	ok(t, putGetCompare(nodes[0], s, 5, pattern(1, size)))
}

func nothingIsAllowedUpToTheEnd(t *testing.T, nodes []*node) {
	start(nodes[0])
	for _, size := range []int{0, 1, 64} {
		s, err := nodes[1].share(size)
		ok(t, err)
		for _, offset := range []int64{0, int64(size)} {
			ok(t, nodes[0].put(1, s.part(offset, 0), nil))
			ok(t, nodes[0].get(1, nil, s.part(offset, 0)))
		}
	}
}

func shortPutLeavesTheRest(t *testing.T, nodes []*node) {
	start(nodes[0])
	s, err := nodes[1].share(64)
	ok(t, err)
	ok(t, putGetCompare(nodes[0], s, 0, pattern(1, 64)))
	ok(t, nodes[0].put(1, s.remote, []byte("short")))
	got := make([]byte, 64)
	ok(t, nodes[0].get(1, got, s.remote))
	if want := append([]byte("short"), pattern(1, 64)[5:]...); !bytes.Equal(got, want) {
		t.Errorf("the region holds %q, want %q", got, want)
	}
}

func sourceOfPutMayBeReused(t *testing.T, nodes []*node) {
	start(nodes[0])
	const size = 256 << 10
	s, err := nodes[1].share(size)
	ok(t, err)
	src := pattern(1, size)
	ok(t, nodes[0].conns[1].Put(s.remote, src, 0))
	clear(src)
	ok(t, nodes[0].flush(1))
	got := make([]byte, size)
	ok(t, nodes[0].get(1, got, s.remote))
	if !bytes.Equal(got, pattern(1, size)) {
		t.Errorf("a byte written after Put had returned arrived: byte %d", mismatch(got, pattern(1, size)))
	}
}

func oneSidedNeedsNoPoll(t *testing.T, nodes []*node) {
	start(nodes[0]) // and not nodes[1]
	s, err := nodes[1].share(1 << 20)
	ok(t, err)
	ok(t, putGetCompare(nodes[0], s, 0, pattern(1, 1<<20)))
	ok(t, nodes[0].put(1, s.part(0, 8), make([]byte, 8)))
	_, err = nodes[0].fetchAdd(1, s.part(0, 8), 3)
	ok(t, err)
	old, err := nodes[0].compareSwap(1, s.part(0, 8), 3, 9)
	ok(t, err)
	ok(t, nodes[0].flush(1))
	if old != 3 {
		t.Errorf("CompareSwap found %d, want 3", old)
	}
}

func rankReachesItself(t *testing.T, nodes []*node) {
	start(nodes[0])
	s, err := nodes[0].share(4096)
	ok(t, err)
	ok(t, putGetCompare(nodes[0], s, 100, pattern(1, 1000)))
	if !bytes.Equal(s.mem[100:1100], pattern(1, 1000)) {
		t.Error("the rank does not find in its memory what it put there")
	}
}

func mappedMemoryIsTheRegion(t *testing.T, nodes []*node) {
	mapper, has := nodes[0].endpoint.(transport.Mapper)
	if !has {
		t.Log("no transport.Mapper: nothing to check")
		return
	}
	s, err := nodes[1].share(4096)
	ok(t, err)
	mem, mapped := mapper.Map(1, s.part(16, 100))
	if !mapped {
		t.Log("the endpoint does not map this memory: nothing to check")
		return
	}
	if len(mem) != 100 || cap(mem) != 100 {
		t.Fatalf("Map of 100 bytes returned %d of capacity %d", len(mem), cap(mem))
	}
	copy(mem, pattern(1, 100))
	if !bytes.Equal(s.mem[16:116], pattern(1, 100)) {
		t.Error("what was written to mapped memory is not in the region")
	}
	for _, r := range []transport.Remote{s.part(-1, 8), s.part(4090, 7), s.part(0, -1), s.part(0, 1<<62), {Key: s.remote.Key + 1, Len: 8}} {
		if _, mapped := mapper.Map(1, r); mapped {
			t.Errorf("Map of %+v, which is not memory of the region, succeeded", r)
		}
	}
}
