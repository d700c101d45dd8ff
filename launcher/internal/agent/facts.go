package agent

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// memory is how many bytes of main memory the host has; 0: that is not known.
func memory() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), "MemTotal:"); ok {
			kb, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
			return kb << 10
		}
	}
	return 0
}

// load is how many processes want to run, over the last minute.
func load() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	value, _ := strconv.ParseFloat(first, 64)
	return value
}

// devices are the accelerators and network adapters whose device files are there.
func devices() []string {
	var found []string
	for _, pattern := range []string{"nvidia[0-9]*", "kfd", "dri/renderD*", "infiniband/uverbs*", "accel/accel*"} {
		paths, err := filepath.Glob("/dev/" + pattern)
		if err != nil {
			continue
		}
		for _, p := range paths {
			found = append(found, strings.TrimPrefix(p, "/dev/"))
		}
	}
	slices.Sort(found)
	return found
}
