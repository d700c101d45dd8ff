package main

import (
	"runtime"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"
)

func TestPairOf(t *testing.T) {
	root := fstest.MapFS{}
	for cpu, list := range map[string]string{"0": "0-1", "1": "0-1", "2": "2-3", "3": "2-3"} {
		root["sys/devices/system/cpu/cpu"+cpu+"/topology/thread_siblings_list"] = &fstest.MapFile{Data: []byte(list + "\n")}
	}
	for _, c := range []struct {
		name string
		cpus []int
		want pair
		ok   bool
	}{
		{"hyperthreads", []int{0, 1, 2, 3}, pair{0, 2}, true},
		{"not all allowed", []int{1, 3}, pair{1, 3}, true},
		{"one core's", []int{2, 3}, pair{}, false},
		{"one", []int{0}, pair{}, false},
		{"none", nil, pair{}, false},
		{"the kernel says nothing of them", []int{5, 6, 7}, pair{5, 6}, true},
	} {
		if got, ok := pairOf(root, c.cpus); got != c.want || ok != c.ok {
			t.Errorf("%s: %v, %v, want %v, %v", c.name, got, ok, c.want, c.ok)
		}
	}
}

func TestUsualIgnoresWhatDisturbs(t *testing.T) {
	disturbed := []float64{100, 9000, 101, 99, 8000, 450, 102, 98}
	if got := usual(disturbed); got != 100 {
		t.Errorf("%v, want 100", got)
	}
}

// TestDistance measures here, and looks whether the thread is given back as it was.
func TestDistance(t *testing.T) {
	p := herePair(t)
	before := lockedAffinity(t)
	ns, err := p.distance()
	if err != nil || ns < 1 { // how much it may be depends on who else wants the cores
		t.Errorf("%v ns, %v", ns, err)
	}
	if after := lockedAffinity(t); after != before {
		t.Error("the thread may not run where it could before")
	}
}

// TestDistanceToNowhere has either side fail: neither may wait for the other.
func TestDistanceToNowhere(t *testing.T) {
	here := herePair(t)
	var set unix.CPUSet
	nowhere := len(set)*64 - 1
	before := lockedAffinity(t)
	for _, p := range []pair{{here.one, nowhere}, {nowhere, here.other}} {
		if ns, err := p.distance(); err == nil {
			t.Errorf("between %d and %d it is %v ns", p.one, p.other, ns)
		}
	}
	if lockedAffinity(t) != before {
		t.Error("the thread may not run where it could before")
	}
}

func herePair(t *testing.T) pair {
	t.Helper()
	p, ok, err := firstPair()
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		t.Skip("there is one core to use")
	}
	return p
}

// lockedAffinity holds the test on its thread until the test ends, and returns where
// that may run.
func lockedAffinity(t *testing.T) (set unix.CPUSet) {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	return set
}
