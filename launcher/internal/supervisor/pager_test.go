package supervisor

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/internal/control"
)

// The pager of a host that is played is where that host's ranks are; one that has a machine to
// itself, or whose ranks are not bound, is anywhere.
func TestCPUsOfPagers(t *testing.T) {
	sets := make([]unix.CPUSet, 3)
	for i := range sets {
		sets[i].Set(i)
	}
	bound := func(rank int) *unix.CPUSet { return &sets[rank%len(sets)] }
	free := func(int) *unix.CPUSet { return nil }
	// This host has ranks 1 and 2.
	programs := []control.Program{{First: 1, Count: 1}, {First: 2, Count: 1}}
	for _, tt := range []struct {
		name  string
		m     control.Start
		bind  func(int) *unix.CPUSet
		pager string // the CPUs of rank 1's, and of rank 2's
	}{
		{"one of two hosts that are played", control.Start{Sharers: 4}, bound, "12 12"},
		{"not bound", control.Start{Sharers: 4}, free, "any any"},
		{"a machine of its own", control.Start{Sharers: 2}, bound, "any any"},
		{"every rank a host", control.Start{Sharers: 2, Apart: true}, bound, "1 2"},
		{"every rank a host, not bound", control.Start{Sharers: 2, Apart: true}, free, "any any"},
	} {
		tt.m.Programs = programs
		beside := besideRanks(&tt.m, tt.bind)
		if got := list(beside(1)) + " " + list(beside(2)); got != tt.pager {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.pager)
		}
	}
}

func list(cpus *unix.CPUSet) (text string) {
	if cpus == nil {
		return "any"
	}
	for cpu := range 3 {
		if cpus.IsSet(cpu) {
			text += string(rune('0' + cpu))
		}
	}
	return text
}
