package machine

import (
	"os"
	"regexp"
	"runtime"
	"strings"
)

// CPU is the processor's name, with a word when the machine is a virtual one.
func CPU() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return cpuName("")
	}
	return cpuName(string(text))
}

// Kernel is the kernel's name and release.
func Kernel() string {
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "an unknown kernel"
	}
	return "Linux " + strings.TrimSpace(string(text))
}

var (
	modelLine = regexp.MustCompile(`(?m)^model name\s*:\s*(.+)$`)
	flagsLine = regexp.MustCompile(`(?m)^flags\s*:.*\bhypervisor\b`)
)

// cpuName reads /proc/cpuinfo.
func cpuName(cpuinfo string) string {
	name := "an unnamed " + runtime.GOARCH + " CPU"
	if m := modelLine.FindStringSubmatch(cpuinfo); m != nil {
		name = strings.TrimSpace(m[1])
	}
	if flagsLine.MatchString(cpuinfo) {
		name += " (a virtual machine)"
	}
	return name
}
