package transporttest

import (
	"bytes"
	"math"
	"testing"

	"github.com/golaunch/golaunch/transport"
)

var boundsChecks = []check{
	{"what lies outside the region is ErrRange and touches nothing", 2, outsideIsErrRange},
	{"more bytes than the Remote names is ErrRange", 2, longerThanRemoteIsErrRange},
	{"an atomic needs 8 bytes inside the region", 2, atomicNeedsEightBytes},
	{"an atomic on a misaligned word is ErrAlign", 2, misalignedIsErrAlign},
	{"a refused operation leaves the connection usable", 2, refusedLeavesConnUsable},
	{"a refused operation without OpID is reported at the latest by Flush", 2, refusedWithoutOpIDIsReported},
	{"memory that is not the segment's is not mistaken for it", 1, foreignMemoryIsNotMistaken},
}

// outside lists pieces of n bytes that do not lie in a region of 64.
func outside(s shared, n int64) []transport.Remote {
	return []transport.Remote{
		s.part(-1, n), s.part(-n, n), s.part(65-n, n), s.part(64, n), s.part(65, n), s.part(1<<40, n),
		s.part(math.MaxInt64, n), s.part(math.MaxInt64-n+1, n), s.part(math.MinInt64, n),
	}
}

func outsideIsErrRange(t *testing.T, nodes []*node) {
	n := nodes[0]
	start(n)
	around, s, err := nodes[1].shareInside(64)
	ok(t, err)
	copy(around, pattern(1, len(around)))
	for _, r := range outside(s, 16) {
		wants(t, transport.ErrRange, n.put(1, r, make([]byte, 16)), "Put at offset %d of 64", r.Offset)
		wants(t, transport.ErrRange, n.get(1, make([]byte, 16), r), "Get at offset %d of 64", r.Offset)
	}
	for _, r := range outside(s, 8) {
		_, err := n.fetchAdd(1, r, 1)
		wants(t, transport.ErrRange, err, "FetchAdd at offset %d of 64", r.Offset)
		_, err = n.compareSwap(1, r, 0, 1)
		wants(t, transport.ErrRange, err, "CompareSwap at offset %d of 64", r.Offset)
	}
	ok(t, n.flush(1))
	if !bytes.Equal(around, pattern(1, len(around))) {
		t.Error("a refused operation changed memory")
	}
}

// shareInside registers n bytes with as many unregistered ones on either side.
func (n *node) shareInside(bytes int) (around []byte, s shared, err error) {
	key, offset, mem := n.job.Alloc(n.rank, 3*bytes)
	region, err := n.endpoint.Register(key, offset+int64(bytes), mem[bytes:2*bytes])
	if err != nil {
		return nil, shared{}, err
	}
	return mem, shared{n.rank, mem[bytes : 2*bytes], region.Remote(), region}, nil
}

func longerThanRemoteIsErrRange(t *testing.T, nodes []*node) {
	n := nodes[0]
	start(n)
	s, err := nodes[1].share(64)
	ok(t, err)
	wants(t, transport.ErrRange, n.put(1, s.part(0, 8), make([]byte, 9)), "Put of 9 bytes to a Remote of 8")
	wants(t, transport.ErrRange, n.get(1, make([]byte, 9), s.part(0, 8)), "Get of 9 bytes from a Remote of 8")
	wants(t, transport.ErrRange, n.put(1, s.part(0, -1), make([]byte, 1)), "Put to a Remote of -1 bytes")
}

func atomicNeedsEightBytes(t *testing.T, nodes []*node) {
	n := nodes[0]
	start(n)
	s, err := nodes[1].share(63)
	ok(t, err)
	for _, r := range []transport.Remote{s.part(56, 8), s.part(0, 7), s.part(0, 0), s.part(64, 8)} {
		_, err := n.fetchAdd(1, r, 1)
		wants(t, transport.ErrRange, err, "FetchAdd on %d bytes at offset %d of 63", r.Len, r.Offset)
		_, err = n.compareSwap(1, r, 0, 1)
		wants(t, transport.ErrRange, err, "CompareSwap on %d bytes at offset %d of 63", r.Len, r.Offset)
	}
}

func misalignedIsErrAlign(t *testing.T, nodes []*node) {
	n := nodes[0]
	start(n)
	s, err := nodes[1].share(64)
	ok(t, err)
	for offset := int64(1); offset < 8; offset++ {
		_, err := n.fetchAdd(1, s.part(offset, 8), 1)
		wants(t, transport.ErrAlign, err, "FetchAdd at offset %d", offset)
		_, err = n.compareSwap(1, s.part(offset, 8), 0, 1)
		wants(t, transport.ErrAlign, err, "CompareSwap at offset %d", offset)
	}
}

func refusedLeavesConnUsable(t *testing.T, nodes []*node) {
	start(nodes...)
	n := nodes[0]
	s, err := nodes[1].share(64)
	ok(t, err)
	wants(t, transport.ErrRange, n.put(1, s.part(64, 8), make([]byte, 8)), "Put outside")
	wants(t, transport.ErrKey, n.put(1, transport.Remote{Key: ^s.remote.Key, Len: 8}, make([]byte, 8)), "Put to a wrong key")
	wants(t, transport.ErrTooLong, n.conns[1].Send(make([]byte, transport.MaxMessage+1)), "Send of MaxMessage+1")
	ok(t, putGetCompare(n, s, 0, pattern(1, 64)))
	ok(t, n.send(1, "still there"))
	got, err := nodes[1].receive()
	ok(t, err)
	if got != (message{0, "still there"}) {
		t.Errorf("received %+v", got)
	}
}

func refusedWithoutOpIDIsReported(t *testing.T, nodes []*node) {
	n := nodes[0]
	start(n)
	s, err := nodes[1].share(64)
	ok(t, err)
	err = n.conns[1].Put(s.part(60, 8), make([]byte, 8), 0)
	if err == nil {
		err = n.flush(1)
	}
	wants(t, transport.ErrRange, err, "Put outside the region without OpID, then Flush")
	ok(t, n.flush(1)) // it was reported: the next Flush has nothing to say
}

// foreignMemoryIsNotMistaken: either Register refuses memory that is not where it
// is said to be, or the region is that memory and not what is there.
func foreignMemoryIsNotMistaken(t *testing.T, nodes []*node) {
	n := nodes[0]
	start(n)
	key, offset, mem := n.job.Alloc(0, 64)
	register := func(key uint64, offset int64) (transport.Region, []byte, error) {
		other := make([]byte, 64)
		r, err := n.endpoint.Register(key, offset, other)
		return r, other, err
	}
	places := map[string]transport.Remote{
		"unknown segment": {Key: key + 1, Offset: offset}, "wrong offset": {Key: key, Offset: offset + 8},
		"negative offset": {Key: key, Offset: -8}, "another one's place": {Key: key, Offset: offset},
	}
	for name, at := range places {
		r, other, err := register(at.Key, at.Offset)
		if err != nil {
			continue
		}
		ok(t, n.put(0, r.Remote(), pattern(1, 64)))
		if !bytes.Equal(other, pattern(1, 64)) || !bytes.Equal(mem, make([]byte, 64)) {
			t.Errorf("%s: the region is not the memory that was registered", name)
		}
	}
	if _, err := n.endpoint.Register(key, offset, mem); err != nil {
		t.Errorf("the memory itself: %v", err)
	}
}
