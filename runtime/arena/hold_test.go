package arena

import (
	"errors"
	"testing"
)

func TestWideHold(t *testing.T) {
	a := newArena(t, Config{})
	hold := HoldName{Context: 1}
	early, late := mustAlloc[byte](t, a, 4096), mustAlloc[byte](t, a, 4096)
	mustFree(t, a, early)
	a.Hold(hold, []int{1, 2}, true)
	late[5] = 1
	mustFree(t, a, late)
	if u := a.Usage(); u.Quarantined != 4096 || u.Free != 4096 || u.InUse != 0 {
		t.Errorf("%+v", u)
	}
	if err := Free(a, late); !errors.Is(err, ErrDoubleFree) {
		t.Errorf("a quarantined extent freed again: %v", err)
	}
	if again := mustAlloc[byte](t, a, 4096); start(again) != start(early) {
		t.Error("what was free before is not reused")
	}
	a.Confirm(hold, 1)
	if again := mustAlloc[byte](t, a, 4096); start(again) == start(late) {
		t.Error("a quarantined extent was reused")
	}
	if late[5] != 1 {
		t.Error("a quarantined extent was written")
	}
	a.Confirm(hold, 2)
	if u := a.Usage(); u.Quarantined != 0 || u.Free != 4096 {
		t.Errorf("all have confirmed: %+v", u)
	}
	if again := mustAlloc[byte](t, a, 4096); start(again) != start(late) || again[5] != 0 {
		t.Error("what is out of quarantine is not reused, zeroed")
	}
}

// A hold of one allocation keeps no other.
func TestFreeUnder(t *testing.T) {
	a := newArena(t, Config{})
	mine, other := mustAlloc[byte](t, a, 4096), mustAlloc[byte](t, a, 4096)
	a.Hold(HoldName{1, 1}, []int{3}, false)
	a.Hold(HoldName{1, 2}, []int{3}, false)
	if err := FreeUnder(a, mine, HoldName{1, 1}); err != nil {
		t.Fatal(err)
	}
	mustFree(t, a, other)
	if u := a.Usage(); u.Quarantined != 4096 || u.Free != 4096 {
		t.Errorf("%+v", u)
	}
	a.Confirm(HoldName{1, 2}, 3)
	if u := a.Usage(); u.Quarantined != 4096 {
		t.Errorf("another hold's confirmation: %+v", u)
	}
	a.Confirm(HoldName{1, 1}, 3)
	if u := a.Usage(); u.Quarantined != 0 {
		t.Errorf("%+v", u)
	}
}

// Whether a rank is gone is asked when memory is wanted.
func TestGoneConfirms(t *testing.T) {
	dead := false
	a := newArena(t, Config{Gone: func(rank int) bool { return dead && rank == 7 }})
	mem := mustAlloc[byte](t, a, 1<<20) // all of the first segment
	a.Hold(HoldName{1, 0}, []int{7}, true)
	mustFree(t, a, mem)
	if again := mustAlloc[byte](t, a, 1<<20); start(again) == start(mem) {
		t.Error("reused while rank 7 may write to it")
	}
	dead = true
	if again := mustAlloc[byte](t, a, 1<<20); start(again) != start(mem) {
		t.Error("not reused although rank 7 is gone")
	}
}
