// Package machine tells what the ranks run on. It is safe for concurrent use.
package machine

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Cores is how many cores the machine has online. It is not how many this rank
// may use: a rank bound to one core still runs beside the others.
func Cores() int {
	text, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return runtime.NumCPU()
	}
	n, err := countCores(string(text))
	if err != nil {
		return runtime.NumCPU()
	}
	return n
}

// countCores counts a kernel's list of numbers, as in "0-3,8,10-11".
func countCores(list string) (int, error) {
	count := 0
	for _, part := range strings.Split(strings.TrimSpace(list), ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.ParseUint(first, 10, 16)
		if err != nil {
			return 0, fmt.Errorf("list of cores %q: %w", list, err)
		}
		to, err := strconv.ParseUint(last, 10, 16)
		if err != nil {
			return 0, fmt.Errorf("list of cores %q: %w", list, err)
		}
		if to < from {
			return 0, fmt.Errorf("list of cores %q: %d-%d runs backwards", list, from, to)
		}
		count += int(to-from) + 1
	}
	return count, nil
}
