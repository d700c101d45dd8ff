package memlimit

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parseMeminfo returns MemAvailable of /proc/meminfo, in bytes.
func parseMeminfo(text string) (int64, error) {
	for line := range strings.Lines(text) {
		value, ok := strings.CutPrefix(line, "MemAvailable:")
		if !ok {
			continue
		}
		f := strings.Fields(value)
		if len(f) != 2 || f[1] != "kB" {
			return 0, fmt.Errorf("MemAvailable is %q, not a number of kB", strings.TrimSpace(value))
		}
		n, err := parseBytes(f[0])
		if err != nil {
			return 0, fmt.Errorf("MemAvailable: %w", err)
		}
		if n > math.MaxInt64/1024 {
			return 0, fmt.Errorf("MemAvailable: %d kB exceed an address space", n)
		}
		return n * 1024, nil
	}
	return 0, errors.New("no MemAvailable")
}

// unlimited is where version 1 begins to mean "no limit": it writes the largest
// multiple of the page size.
const unlimited = 1 << 62

// parseAmount reads a cgroup file of one number; false for "no limit".
func parseAmount(text string) (int64, bool, error) {
	text = strings.TrimSpace(text)
	if text == "max" {
		return 0, false, nil
	}
	n, err := parseBytes(text)
	if err != nil {
		return 0, false, err
	}
	return n, n < unlimited, nil
}

// parseStat returns one entry of memory.stat, 0 when it is absent.
func parseStat(text, entry string) (int64, error) {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == entry {
			return parseBytes(f[1])
		}
	}
	return 0, nil
}

// parseBytes reads an unsigned decimal; what exceeds int64 becomes its maximum.
func parseBytes(s string) (int64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, err
	}
	return int64(min(n, math.MaxInt64)), nil
}
