package machine

import (
	"strings"
	"testing"
	"time"
)

func TestCountCores(t *testing.T) {
	for list, want := range map[string]int{"0\n": 1, "0-1\n": 2, "0-3,8,10-11": 7} {
		if got, err := countCores(list); err != nil || got != want {
			t.Errorf("countCores(%q) = %d, %v, want %d", list, got, err, want)
		}
	}
	for _, list := range []string{"", "a", "3-1", "0-", "-2", "0-70000"} {
		if got, err := countCores(list); err == nil {
			t.Errorf("countCores(%q) = %d, want an error", list, got)
		}
	}
}

func TestCoresIsPositive(t *testing.T) {
	if got := Cores(); got < 1 {
		t.Errorf("Cores() = %d", got)
	}
}

func TestCPUName(t *testing.T) {
	const amd = "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu vme\n"
	if got := cpuName(amd); got != "AMD EPYC" {
		t.Error(got)
	}
	if got := cpuName(strings.Replace(amd, "vme", "hypervisor vme", 1)); got != "AMD EPYC (a virtual machine)" {
		t.Error(got)
	}
	if got := cpuName("processor : 0\n"); !strings.HasPrefix(got, "an unnamed ") {
		t.Error(got)
	}
}

func TestParseBusy(t *testing.T) {
	got, err := parseBusy("cpu  100 20 3 9999 8888 4 5 600 70 7\ncpu0 1 2 3\n")
	if want := 7320 * time.Millisecond; err != nil || got != want {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	for _, text := range []string{"", "cpu 1 2 3", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 3 4 5 6 x 8"} {
		if got, err := parseBusy(text); err == nil {
			t.Errorf("%q: %v, want an error", text, got)
		}
	}
}

func TestBusyOfThisMachine(t *testing.T) {
	if got, err := Busy(); err != nil || got <= 0 {
		t.Errorf("%v, %v", got, err)
	}
}
