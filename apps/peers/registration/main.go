// Registration draws what regbench --json prints: what it costs to have memory
// registered for an operation, anew each time and beforehand.
//
//	registration <results.jsonl >chart.svg
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/golaunch/golaunch/apps/internal/bench"
	"github.com/golaunch/golaunch/apps/internal/bench/figures"
	"github.com/golaunch/golaunch/apps/peers/internal/chart"
)

// aim is how many times cheaper pre-registration should be, from aimFrom bytes on.
const (
	aim     = 100
	aimFrom = 64 << 10
)

func main() {
	if err := draw(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "registration:", err)
		os.Exit(1)
	}
}

// draw reads results, one a line, and writes the chart of them.
func draw(in io.Reader, out io.Writer) error {
	results, err := read(in)
	if err != nil {
		return err
	}
	if len(results) == 0 {
		return errors.New("no results")
	}
	_, err = io.WriteString(out, chart.Draw(chart.Chart{
		Title:    "Memory for one operation, registered beforehand and each time",
		Subtitle: fmt.Sprintf("regbench over %s, logarithmic: further left is faster. A bar joins pre-registered memory with registering and deregistering.", results[0].Transport),
		NoteHead: "ratio", AsideHead: "must be",
		Series: []chart.Series{
			{Name: "pre-registered", Color: "#0b7285", Shape: chart.Circle},
			{Name: "register each time", Color: "#e8890c", Shape: chart.Diamond},
		},
		Rows: rows(results),
	}))
	return err
}

func read(in io.Reader) (results []bench.Result, err error) {
	for d := json.NewDecoder(in); ; {
		var r bench.Result
		if err := d.Decode(&r); err == io.EOF {
			return results, nil
		} else if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
}

// pairs are the operations that are compared: regbench's names of both.
var pairs = []struct{ group, before, each string }{
	{"Memory of the arena: its key, against Register and Close", "arena_remote", "register"},
	{"A mapped file: found in the cache, against its first use and Invalidate", "foreign_hit", "foreign_first"},
	{"Allreduce of float64s", "allreduce_pre", "allreduce_percall"},
}

func rows(results []bench.Result) (all []chart.Row) {
	for _, p := range pairs {
		for _, before := range results {
			for _, each := range results {
				if before.Op == p.before && each.Op == p.each && before.Bytes == each.Bytes {
					all = append(all, row(p.group, before, each))
				}
			}
		}
	}
	return all
}

func row(group string, before, each bench.Result) chart.Row {
	ratio := each.US / before.US
	r := chart.Row{Group: group, Label: figures.Size(before.Bytes), Values: []float64{before.US, each.US}, Note: note(ratio)}
	if before.Bytes >= aimFrom && before.Op != "allreduce_pre" {
		r.Aside, r.Bad = fmt.Sprintf("≥ %d", aim), ratio < aim
	}
	return r
}

// note has as many digits as are worth while.
func note(ratio float64) string {
	if ratio < 10 {
		return fmt.Sprintf("%.2f", ratio)
	}
	return fmt.Sprintf("%.0f", ratio)
}
