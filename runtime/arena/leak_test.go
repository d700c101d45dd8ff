package arena

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// held is what a process holds of the kernel that an arena could leak.
type held struct{ descriptors, mappings int }

// resources counts descriptors and the mappings of arena memory.
func resources(t testing.TB) held {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return held{len(fds), strings.Count(string(maps), "memfd:golaunch-arena")}
}

// openPoller makes the Go scheduler's poller, whose descriptors stay: the first pipe does,
// unless the process was started with one.
func openPoller(t *testing.T) {
	t.Helper()
	r, w, err := os.Pipe()
	if err := errors.Join(err, r.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	openPoller(t)
	before := resources(t)
	a := New(Config{})
	for _, n := range []int{1, 1 << 20, 2 << 20, 8 << 20, 40 << 20} {
		mustAlloc[byte](t, a, n)
	}
	peer, err := MapPeer(a.segments[0].file)
	if err != nil {
		t.Fatal(err)
	}
	if during := resources(t); during.descriptors != before.descriptors+len(a.segments) ||
		during.mappings != before.mappings+len(a.segments)+1 {
		t.Errorf("%d segments and one of a peer: %+v, before %+v", len(a.segments), during, before)
	}
	if err := UnmapPeer(peer); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if after := resources(t); after != before {
		t.Errorf("after Close: %+v, before: %+v", after, before)
	}
}

func TestClosed(t *testing.T) {
	a := New(Config{Rank: 2})
	s := mustAlloc[byte](t, a, 5)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Alloc[byte](a, 1); !errors.Is(err, ErrClosed) {
		t.Errorf("Alloc: %v", err)
	}
	if err := Free(a, s); !errors.Is(err, ErrClosed) {
		t.Errorf("Free: %v", err)
	}
	if _, err := a.Segment(1); !errors.Is(err, ErrClosed) {
		t.Errorf("Segment: %v", err)
	}
	if _, ok := a.Locate(s); ok {
		t.Error("located memory that is gone")
	}
	if u := a.Usage(); u != (Usage{Allocs: 1}) {
		t.Errorf("%+v", u)
	}
}

func TestAnUnusedArenaHoldsNothing(t *testing.T) {
	before := resources(t)
	a := New(Config{})
	if after := resources(t); after != before {
		t.Errorf("%+v, before %+v", after, before)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
}
