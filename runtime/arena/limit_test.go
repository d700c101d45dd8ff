package arena

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/golaunch/golaunch/runtime/memlimit"
)

// A budget is a Config.Reserve for tests: so many bytes, no more.
type budget struct {
	left, asked int64
	reserved    int64 // not released yet
}

var errBudget = errors.New("22.9 GiB are available (MemAvailable)")

func (b *budget) reserve(bytes int64) (func(), error) {
	b.asked = bytes
	if bytes > b.left {
		return nil, errBudget
	}
	b.left -= bytes
	b.reserved += bytes
	return func() { b.reserved -= bytes }, nil
}

func TestTooMuchMemoryIsAnError(t *testing.T) {
	b := &budget{left: 8 << 20}
	a := newArena(t, Config{Rank: 1, Reserve: b.reserve})
	before := resources(t)
	_, err := Alloc[float64](a, 1<<37) // 1 TiB
	if !errors.Is(err, errBudget) || !strings.Contains(err.Error(), "rank 1: arena: allocating 137438953472 elements of type float64: 22.9 GiB") {
		t.Fatal(err)
	}
	if b.asked != 1<<40 || b.reserved != 0 {
		t.Errorf("asked for %d bytes, %d still reserved", b.asked, b.reserved)
	}
	if after := resources(t); after != before {
		t.Errorf("left behind: %+v, before %+v", after, before)
	}
	mustAlloc[byte](t, a, 1<<20) // the arena is as good as before
}

// The same with this host's real limits.
func TestMoreThanTheHostHas(t *testing.T) {
	a := newArena(t, Config{Reserve: func(bytes int64) (func(), error) {
		limit, err := memlimit.Available()
		return func() {}, errors.Join(err, limit.Admit(bytes))
	}})
	_, err := Alloc[byte](a, 16<<40)
	var exceeded *memlimit.ExceededError
	if !errors.As(err, &exceeded) || exceeded.Asked != 16<<40 {
		t.Fatal(err)
	}
	t.Log(err)
	mustAlloc[byte](t, a, 1)
}

// Populated memory is what was reserved, and the reservation ends with it.
func TestEveryPopulatedByteWasReserved(t *testing.T) {
	b := &budget{left: 1 << 30}
	a := newArena(t, Config{Reserve: b.reserve})
	for range 40 {
		mustAlloc[byte](t, a, 700_000)
	}
	if u := a.Usage(); u.Populated != 1<<30-b.left || b.reserved != 0 {
		t.Errorf("%+v; reserved %d, of that not released %d", u, 1<<30-b.left, b.reserved)
	}
}

// Short of memory, an arena populates exactly what is asked for, and then reuses
// extents that are larger than it would like.
func TestShortOfMemory(t *testing.T) {
	b := &budget{left: 1 << 30}
	a := newArena(t, Config{Reserve: b.reserve})
	mustAlloc[byte](t, a, 1<<20)
	b.left = 64 << 10
	page := os.Getpagesize()
	mustAlloc[byte](t, a, page)
	if want := int64(64<<10 - page); b.left != want {
		t.Errorf("%d bytes of the budget left, want %d", b.left, want)
	}
	x := mustAlloc[byte](t, a, 8*page)
	x[0], x[page] = 1, 1
	b.left = 0
	mustFree(t, a, x)
	y := mustAlloc[byte](t, a, page)
	if start(y) != start(x) || y[0] != 0 {
		t.Error("the free extent of 8 pages did not serve for one")
	}
	if _, err := Alloc[byte](a, page); !errors.Is(err, errBudget) {
		t.Errorf("out of memory: %v", err)
	}
	mustFree(t, a, y)
	if z := mustAlloc[byte](t, a, 8*page); start(z) != start(x) || z[page] != 0 {
		t.Error("the extent did not keep its size")
	}
}

func TestPublish(t *testing.T) {
	type published struct{ key, size int64 }
	var seen []published
	var a *Arena
	a = newArena(t, Config{Publish: func(key uint64, f *os.File, size int64) error {
		st, err := f.Stat()
		if err != nil || st.Size() != size {
			t.Errorf("segment %d of %d bytes: %v, %v", key, size, st, err)
		}
		if _, err := a.Segment(key); err == nil {
			t.Errorf("segment %d is in use before it is published", key)
		}
		seen = append(seen, published{int64(key), size})
		return nil
	}})
	for range 3 {
		mustAlloc[byte](t, a, 1<<20)
	}
	mustAlloc[byte](t, a, 32<<20)
	mustAlloc[byte](t, a, 1)
	want := []published{{1, 1 << 20}, {2, 2 << 20}, {3, 32 << 20}, {4, 8 << 20}}
	if len(seen) != len(want) {
		t.Fatalf("%v, want %v", seen, want)
	}
	for i := range want {
		if seen[i] != want[i] {
			t.Errorf("segment %d: %v, want %v", i, seen[i], want[i])
		}
	}
	if mem, err := a.Segment(3); err != nil || len(mem) != 32<<20 {
		t.Errorf("segment 3: %d bytes, %v", len(mem), err)
	}
	for _, key := range []uint64{0, 5, 1 << 63} {
		if _, err := a.Segment(key); err == nil {
			t.Errorf("there is a segment %d", key)
		}
	}
}

func TestPublishFails(t *testing.T) {
	errPublish := errors.New("the supervisor is gone")
	fail := true
	a := newArena(t, Config{Publish: func(uint64, *os.File, int64) error {
		if fail {
			return errPublish
		}
		return nil
	}})
	before := resources(t)
	if _, err := Alloc[byte](a, 1); !errors.Is(err, errPublish) {
		t.Fatal(err)
	}
	if after := resources(t); after != before || a.Usage() != (Usage{}) {
		t.Errorf("left behind: %+v, before %+v, %+v", after, before, a.Usage())
	}
	fail = false
	if at, _ := Where(a, mustAlloc[byte](t, a, 1)); at.Key != 1 {
		t.Errorf("the first segment's key is %d", at.Key)
	}
}
