package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/golaunch/golaunch/apps/internal/bench/figures"
)

// A result is one mode, and one line of --json.
type result struct {
	Mode       string  `json:"mode"`
	Packages   int     `json:"packages"`
	Imports    int     `json:"imports"`
	Iterations int     `json:"iterations"`
	Ranks      int     `json:"ranks"`
	Transport  string  `json:"transport"` // to the farthest rank
	Seconds    float64 `json:"seconds"`   // of all iterations, the median of the runs
	Gets       int64   `json:"gets"`      // from other ranks, in all iterations
}

// A place is one package, and one line of --json.
type place struct {
	Package string  `json:"package"`
	Rank    float64 `json:"rank"`
}

// highest are the first n packages.
func highest(g *graph, ranks []float64, n int) []place {
	places := make([]place, len(g.names))
	for i, name := range g.names {
		places[i] = place{name, ranks[i]}
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(a.Package, b.Package))
	})
	return places[:min(n, len(places))]
}

func print(out io.Writer, opt options, g *graph, results []result, ranks []float64) error {
	if len(g.names) == 0 { // not rank 0
		return nil
	}
	places := highest(g, ranks, opt.top)
	if opt.json {
		return printLines(out, results, places)
	}
	var b strings.Builder
	first := results[0]
	fmt.Fprintf(&b, "%d packages, %d imports; %s over %s, %s\n\n", first.Packages, first.Imports,
		figures.Plural(first.Ranks, "rank"), first.Transport, figures.Plural(first.Iterations, "iteration"))
	fmt.Fprintf(&b, "%-9s %14s %15s\n", "mode", "an iteration", "remote gets")
	for _, r := range results {
		fmt.Fprintf(&b, "%-9s %14s %15d\n", r.Mode, figures.Time(r.Seconds/float64(r.Iterations)*1e6), r.Gets)
	}
	fmt.Fprintln(&b)
	for i, p := range places {
		fmt.Fprintf(&b, "%4d  %.5f  %s\n", i+1, p.Rank, p.Package)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func printLines(out io.Writer, results []result, places []place) error {
	lines := json.NewEncoder(out)
	for _, r := range results {
		if err := lines.Encode(r); err != nil {
			return err
		}
	}
	for _, p := range places {
		if err := lines.Encode(p); err != nil {
			return err
		}
	}
	return nil
}
