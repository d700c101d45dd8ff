package arena

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// pagesOf is how many bytes of a segment's file the kernel holds.
func pagesOf(t *testing.T, s *segment) int64 {
	t.Helper()
	var st unix.Stat_t
	if err := withDescriptor(s.file, func(fd int) error { return unix.Fstat(fd, &st) }); err != nil {
		t.Fatal(err)
	}
	return st.Blocks * 512
}

func TestRelieveReturnsIdleSegments(t *testing.T) {
	a := newArena(t, Config{})
	small, large, huge := mustAlloc[byte](t, a, 100), mustAlloc[byte](t, a, 8<<20), mustAlloc[byte](t, a, 40<<20)
	fill(huge, 1)
	mustFree(t, a, large)
	mustFree(t, a, huge)
	before := a.Usage()
	returned, err := a.Relieve()
	if err != nil || returned != 48<<20 {
		t.Errorf("%d bytes, %v", returned, err)
	}
	u := a.Usage()
	if u.Populated != before.Populated-returned || u.Free != 0 || u.Returned != returned || u.Segments != 3 {
		t.Errorf("%+v, before %+v", u, before)
	}
	for i, want := range []int64{256 << 10, 0, 0} {
		if got := pagesOf(t, a.segments[i]); got != want {
			t.Errorf("segment %d has %d bytes, want %d", i+1, got, want)
		}
	}
	if returned, err := a.Relieve(); returned != 0 || err != nil {
		t.Errorf("once more: %d bytes, %v", returned, err)
	}
	if err := Free(a, huge); !errors.Is(err, ErrForeign) {
		t.Errorf("freeing what was given back: %v", err)
	}
	again := mustAlloc[byte](t, a, 30<<20)
	if at, _ := a.Locate(again); at.Key != 3 || !all(again, 0) {
		t.Errorf("in segment %d, or not zeroed; segment 3 sleeps", at.Key)
	}
	mustFree(t, a, again)
	mustFree(t, a, small)
	if returned, err := a.Relieve(); err != nil || returned != 256<<10+30<<20 {
		t.Errorf("everything: %d bytes, %v", returned, err)
	}
	if u := a.Usage(); u.Populated != 0 || u.Mapped != 49<<20 {
		t.Errorf("%+v", u)
	}
	mustAlloc[byte](t, a, 100)
}

// What is in quarantine is not given back.
func TestRelieveLeavesQuarantine(t *testing.T) {
	a := newArena(t, Config{})
	mem := mustAlloc[byte](t, a, 8<<20)
	a.Hold(HoldName{1, 0}, []int{1}, true)
	fill(mem, 7)
	mustFree(t, a, mem)
	if returned, err := a.Relieve(); returned != 0 || err != nil {
		t.Errorf("%d bytes, %v", returned, err)
	}
	if !all(mem, 7) {
		t.Error("emptied while a peer may use it")
	}
	a.Confirm(HoldName{1, 0}, 1)
	if returned, err := a.Relieve(); returned != 8<<20 || err != nil {
		t.Errorf("after the confirmation: %d bytes, %v", returned, err)
	}
}

// An arena that may have no more gives back what is free before it says no.
func TestPressureGivesBack(t *testing.T) {
	limit := int64(64 << 20)
	var a *Arena
	a = newArena(t, Config{Reserve: func(bytes int64) (func(), error) {
		if a.Usage().Populated+bytes > limit {
			return nil, errBudget
		}
		return func() {}, nil
	}})
	for _, mib := range []int{20, 30, 40, 50, 60, 34, 8} { // none fits beside the one before
		mem := mustAlloc[byte](t, a, mib<<20)
		if !all(mem, 0) {
			t.Errorf("%d MiB are not zeroed", mib)
		}
		fill(mem, 1)
		mustFree(t, a, mem)
	}
	if _, err := Alloc[byte](a, 65<<20); !errors.Is(err, errBudget) {
		t.Errorf("more than the limit: %v", err)
	}
	if u := a.Usage(); u.Returned < 150<<20 || u.Populated > limit {
		t.Errorf("%+v", u)
	}
}

// Unmap, remap at the same address, remote write: where a segment was, nothing else
// is mapped while it sleeps, so a peer that breaks the rules and writes there changes
// nobody's memory; and who gets the memory next finds zeros.
func TestUnmapRemapRemoteWrite(t *testing.T) {
	a := newArena(t, Config{})
	mem := mustAlloc[byte](t, a, 8<<20)
	at, _ := a.Locate(mem)
	peer, err := MapPeer(a.segments[at.Key-1].file)
	if err != nil {
		t.Fatal(err)
	}
	mustFree(t, a, mem)
	if _, err := a.Relieve(); err != nil {
		t.Fatal(err)
	}
	for range 50 { // the kernel would give a gap of that size to one of these
		other, err := unix.Mmap(-1, 0, 8<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Munmap(other)
		if start(other) < start(mem)+8<<20 && start(mem) < start(other)+8<<20 {
			t.Fatal("mapped where the segment sleeps")
		}
	}
	peer[at.Offset+100] = 42 // late
	again := mustAlloc[byte](t, a, 8<<20)
	if start(again) != start(mem) {
		t.Fatal("the segment was not woken")
	}
	if !all(again, 0) {
		t.Error("a late write shows in memory that was given out again")
	}
	again[5] = 6
	if peer[at.Offset+5] != 6 {
		t.Error("the peer's mapping is not the woken segment's")
	}
	if err := UnmapPeer(peer); err != nil {
		t.Error(err)
	}
}

// A segment that wakes has its old key and is not published again.
func TestWakingPublishesNothing(t *testing.T) {
	published := 0
	a := newArena(t, Config{Publish: func(uint64, *os.File, int64) error { published++; return nil }})
	for range 5 {
		mustFree(t, a, mustAlloc[byte](t, a, 8<<20))
		if _, err := a.Relieve(); err != nil {
			t.Fatal(err)
		}
	}
	if published != 1 {
		t.Errorf("published %d segments", published)
	}
}
