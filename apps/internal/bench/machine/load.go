package machine

import (
	"os"
	"strconv"
	"strings"
)

// busyLoad is the load of a core above which a benchmark is disturbed.
const busyLoad = 0.25

// Busy returns how many threads wanted to run, on average over the last minute,
// and whether that disturbs a benchmark.
func Busy() (load float64, busy bool) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, false
	}
	load = firstNumber(string(text))
	return load, load > busyLoad*float64(Cores())
}

// firstNumber is the number that text begins with, 0 without one.
func firstNumber(text string) float64 {
	first, _, _ := strings.Cut(text, " ")
	n, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return n
}
