package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// privateMemory is how many bytes of memory only this process has, as the kernel
// counts them.
func privateMemory() (int64, error) {
	text, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		return 0, err
	}
	return parsePrivate(string(text))
}

// parsePrivate adds up the Private lines of a smaps_rollup file.
func parsePrivate(rollup string) (int64, error) {
	var sum int64
	found := false
	for line := range strings.Lines(rollup) {
		name, value, _ := strings.Cut(line, ":")
		if name != "Private_Clean" && name != "Private_Dirty" {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 40)
		if err != nil {
			return 0, fmt.Errorf("smaps_rollup: %s: %w", name, err)
		}
		sum += kib << 10
		found = true
	}
	if !found {
		return 0, errors.New("smaps_rollup: no Private_Clean and no Private_Dirty")
	}
	return sum, nil
}
