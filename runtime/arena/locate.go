package arena

import (
	"slices"

	"github.com/golaunch/golaunch/transport"
)

// An Extent is a place in a rank's arena as peers name it: an offset in bytes
// from the start of the segment with that key.
type Extent struct {
	Key    uint64
	Offset int64
}

// Locate says where mem begins in this arena; false when mem does not lie in one
// of its segments or is empty. It takes no lock, allocates nothing, and takes a
// few nanoseconds: collectives ask it about every buffer. It does not ask whether
// mem is allocated.
func (a *Arena) Locate(mem []byte) (Extent, bool) {
	return a.table.Load().find(start(mem), uintptr(len(mem)))
}

// Where is Locate for slices of any element type.
func Where[T any](a *Arena, s []T) (Extent, bool) {
	return a.table.Load().find(start(s), bytesOf(s))
}

// A table lists the segments by address. It is never changed: growing makes
// another one. A nil table is empty.
type table struct {
	base, size uintptr // from the first segment's start to the last one's end
	spans      []span
	remotes    []transport.Remote // key k's at index k-1; of no length: not registered
}

type span struct {
	base, size uintptr
	key        uint64
}

// with returns a table that has s, a new segment, as well.
func (t *table) with(s *segment) *table {
	var spans []span
	if t != nil {
		spans = t.spans
	}
	n := span{base: address(s.mem), size: uintptr(len(s.mem)), key: s.key}
	at, _ := slices.BinarySearchFunc(spans, n.base, func(s span, base uintptr) int {
		if s.base < base {
			return -1
		}
		return 1
	})
	spans = slices.Insert(slices.Clone(spans), at, n)
	last := spans[len(spans)-1]
	with := &table{spans[0].base, last.base + last.size - spans[0].base, spans, nil}
	if t != nil {
		with.remotes = t.remotes
	}
	return with.registered(s)
}

// registered returns a table that says how s is registered now.
func (t *table) registered(s *segment) *table {
	with := *t
	with.remotes = make([]transport.Remote, max(len(t.remotes), int(s.key)))
	copy(with.remotes, t.remotes)
	with.remotes[s.key-1] = transport.Remote{}
	if s.region != nil {
		with.remotes[s.key-1] = s.region.Remote()
	}
	return &with
}

// find looks n bytes at p up. Memory of the Go heap lies far from every mapping
// and is told by the first comparison; segments are few (they double), so the
// search takes one to four steps.
func (t *table) find(p, n uintptr) (Extent, bool) {
	if t == nil || n == 0 || p-t.base >= t.size {
		return Extent{}, false
	}
	lo, hi := 0, len(t.spans)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		s := &t.spans[mid]
		switch at := p - s.base; {
		case p < s.base:
			hi = mid
		case at >= s.size:
			lo = mid + 1
		case n > s.size-at:
			return Extent{}, false
		default:
			return Extent{s.key, int64(at)}, true
		}
	}
	return Extent{}, false
}
