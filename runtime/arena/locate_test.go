package arena

import "testing"

func TestLocate(t *testing.T) {
	a := newArena(t, Config{})
	for _, n := range []int{1, 100, 1 << 20, 3 << 20, 40 << 20, 2 << 20} {
		mustAlloc[byte](t, a, n)
	}
	for _, s := range a.segments {
		n := len(s.mem)
		for _, c := range []struct{ from, to int }{{0, 1}, {0, n}, {n - 1, n}, {100, 5000}} {
			at, ok := a.Locate(s.mem[c.from:c.to])
			if want := (Extent{s.key, int64(c.from)}); !ok || at != want {
				t.Errorf("bytes %d to %d of segment %d: %v, %v", c.from, c.to, s.key, at, ok)
			}
		}
		if _, ok := a.Locate(s.mem[5:5]); ok {
			t.Error("located an empty slice")
		}
		// What begins in a segment and ends beyond it is no memory of ours.
		if at, ok := a.table.Load().find(address(s.mem)+1, uintptr(n)); ok {
			t.Errorf("%d bytes at byte 1 of segment %d located at %v", n, s.key, at)
		}
	}
	for _, foreign := range [][]byte{nil, {}, make([]byte, 10), make([]byte, 1<<20)} {
		if at, ok := a.Locate(foreign); ok {
			t.Errorf("located memory of the Go heap at %v", at)
		}
	}
	if _, ok := New(Config{}).Locate(make([]byte, 1)); ok {
		t.Error("an empty arena located something")
	}
}

func TestWhere(t *testing.T) {
	a := newArena(t, Config{})
	s := mustAlloc[int32](t, a, 100)
	at, ok := Where(a, s[10:20])
	first, _ := Where(a, s)
	if !ok || at.Offset != first.Offset+40 {
		t.Errorf("%v, %v; the allocation is at %v", at, ok, first)
	}
	if _, ok := Where(a, make([]struct{}, 5)); ok {
		t.Error("located elements of no size")
	}
}
