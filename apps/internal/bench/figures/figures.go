// Package figures sums up measurements and writes them as a person would. It is
// pure, and safe for concurrent use.
package figures

import (
	"fmt"
	"slices"
	"strings"
)

// Median returns the middle value, the mean of the middle two where their number
// is even, and 0 for no values.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// Size writes a number of bytes as a person would: "8 B", "64 KiB", "16 MiB",
// and nothing for none.
func Size(bytes int) string {
	switch {
	case bytes == 0:
		return ""
	case bytes%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", bytes>>20)
	case bytes%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	return fmt.Sprintf("%d B", bytes)
}

// Time writes microseconds with three digits and the unit that fits.
func Time(us float64) string {
	scaled, unit := us, "µs"
	switch {
	case us < 0.9995:
		scaled, unit = us*1e3, "ns"
	case us >= 999.5e3:
		scaled, unit = us/1e6, "s"
	case us >= 999.5:
		scaled, unit = us/1e3, "ms"
	}
	digits := 0
	switch {
	case scaled < 9.995:
		digits = 2
	case scaled < 99.95:
		digits = 1
	}
	return fmt.Sprintf("%.*f %s", digits, scaled, unit)
}

// Plural writes a number of things: "1 round", "7 rounds", "11 batches".
func Plural(n int, word string) string {
	switch {
	case n == 1:
		return "1 " + word
	case strings.HasSuffix(word, "ch"):
		return fmt.Sprintf("%d %ses", n, word)
	}
	return fmt.Sprintf("%d %ss", n, word)
}
