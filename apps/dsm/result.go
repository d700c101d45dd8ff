package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/golaunch/golaunch/apps/internal/bench/figures"
	"github.com/golaunch/golaunch/runtime/world"
)

// A result is one kernel in one mode, and one line of --json.
type result struct {
	Kernel    string  `json:"kernel"`
	Mode      string  `json:"mode"`
	Size      int     `json:"size"`
	Steps     int     `json:"steps"`
	Ranks     int     `json:"ranks"`
	Transport string  `json:"transport"` // to the farthest rank
	Seconds   float64 `json:"seconds"`   // the median of the runs
	traffic           // of the last run
}

// newPrinter returns what prints a result when it is there: the next one may be seconds
// away.
func newPrinter(out io.Writer, opt options, comm *world.Comm) func(result) error {
	if opt.json {
		lines := json.NewEncoder(out)
		return func(r result) error { return lines.Encode(r) }
	}
	const row = "%-7s %9s %6s  %-5s %10s %11s %12s %8s %8s\n"
	begun := false
	return func(r result) error {
		if !begun {
			begun = true
			fmt.Fprintf(out, "%s over %s\n\n", figures.Plural(r.Ranks, "rank"), r.Transport)
			fmt.Fprintf(out, row, "kernel", "size", "steps", "mode", "time", "operations", "moved", "misses", "faults")
		}
		_, err := fmt.Fprintf(out, row, r.Kernel, fmt.Sprint(r.Size), fmt.Sprint(r.Steps), r.Mode,
			figures.Time(r.Seconds*1e6), fmt.Sprint(r.Operations), megabytes(r.Bytes), fmt.Sprint(r.Misses), fmt.Sprint(r.Faults))
		return err
	}
}

func megabytes(n int64) string { return fmt.Sprintf("%.2f MB", float64(n)/1e6) }
