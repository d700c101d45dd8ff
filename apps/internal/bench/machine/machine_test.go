package machine

import (
	"strings"
	"testing"
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

func TestFirstNumber(t *testing.T) {
	for text, want := range map[string]float64{"3.90 4.64 3.71 1/130 3050\n": 3.9, "": 0, "many": 0} {
		if got := firstNumber(text); got != want {
			t.Errorf("%q begins with %v, want %v", text, got, want)
		}
	}
}
