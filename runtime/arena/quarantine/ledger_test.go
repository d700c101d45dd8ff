package quarantine

import (
	"slices"
	"testing"
)

func TestLedger(t *testing.T) {
	var l Ledger[string, int]
	is := func(what string, got []int, want ...int) {
		t.Helper()
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	if l.Free(1, "a") {
		t.Error("kept for nobody")
	}
	l.Open("a", []int{1, 2}, false)
	l.Open("b", []int{2, 3}, true)
	if !l.Free(1, "a") || !l.Free(2, "none") {
		t.Error("not kept")
	}
	is("waits", l.Waits(), 1, 2, 3)
	is("1 is done with a", l.Confirm("a", 1))
	is("again", l.Confirm("a", 1))
	is("who has no part in it", l.Confirm("a", 9))
	is("2 is done with a; b keeps both", l.Confirm("a", 2))
	is("2 is done with b", l.Confirm("b", 2))
	is("3 is gone", l.Gone(3), 1, 2)
	if !l.Idle() || l.Free(3, "a") {
		t.Error("something is open")
	}
	is("before it is open", l.Confirm("c", 1))
	l.Open("c", []int{1, 3}, true)
	if !l.Idle() {
		t.Error("1 has confirmed and 3 is gone")
	}
}

// A peer that confirms what nobody opens does not fill the memory.
func TestEarlyIsBounded(t *testing.T) {
	var l Ledger[int, int]
	for range 2 {
		for name := range 10 * maxEarly {
			l.Confirm(name, 1)
		}
	}
	names, ranks := len(l.early), 0
	for _, of := range l.early {
		ranks += len(of)
	}
	if names != maxEarly || ranks != maxEarly {
		t.Errorf("%d names, %d confirmations", names, ranks)
	}
}
