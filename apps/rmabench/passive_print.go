package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/golaunch/golaunch/apps/internal/bench/figures"
)

// A passiveResult is one line of --json of the op passive.
type passiveResult struct {
	Op        string  `json:"op"` // passive_put, passive_get, passive_fetch_add
	Bytes     int     `json:"bytes"`
	US        float64 `json:"us"`     // the median of one operation
	P99       float64 `json:"p99_us"` // its 99th percentile
	Samples   int     `json:"samples"`
	Target    string  `json:"target"` // idle or busy
	Gaps      string  `json:"gaps"`   // between the operations
	Ranks     int     `json:"ranks"`
	Transport string  `json:"transport"`
}

// A passiveShare is the line that says how fast the busy target's computation was, with
// operations, of what it is without.
type passiveShare struct {
	Op        string  `json:"op"` // passive_computation
	Share     float64 `json:"share"`
	Gaps      string  `json:"gaps"`
	Ranks     int     `json:"ranks"`
	Transport string  `json:"transport"`
}

func gapsOf(gaps bool) string {
	if gaps {
		return fmt.Sprintf("%d-%d ms", gapMin.Milliseconds(), gapMax.Milliseconds())
	}
	return "none"
}

// print writes the results; got is what the target holds.
func (p *passive) print(got []int64) error {
	if p.opt.JSON {
		return p.printLines(got)
	}
	const row = "%-11s %-9s %8s %11s %11s %11s %11s %7s\n"
	fmt.Fprintf(p.out, "\na target that takes no part, over %s\n\n", p.window.Path(target))
	fmt.Fprintf(p.out, row, "operation", "gaps", "samples", "idle median", "99 %", "busy median", "99 %", "ratio")
	for _, gaps := range []bool{false, true} {
		for i, o := range operations {
			idle, busy := p.result(i, round{gaps: gaps}), p.result(i, round{gaps: gaps, busy: true})
			fmt.Fprintf(p.out, row, o.name, idle.Gaps, fmt.Sprint(busy.Samples), figures.Time(idle.US), figures.Time(idle.P99),
				figures.Time(busy.US), figures.Time(busy.P99), fmt.Sprintf("%.2f", busy.US/idle.US))
		}
	}
	_, err := fmt.Fprintf(p.out, "\nthe computation keeps %.0f %% of its speed, with gaps %.0f %%\n", 100*share(got, burstsAt), 100*share(got, gapsAt))
	return err
}

func (p *passive) printLines(got []int64) error {
	enc := json.NewEncoder(p.out)
	for _, r := range rounds {
		for i := range operations {
			if r.nothing {
				continue
			}
			if err := enc.Encode(p.result(i, r)); err != nil {
				return err
			}
		}
	}
	for _, gaps := range []bool{false, true} {
		at := round{gaps: gaps}.speedAt()
		if err := enc.Encode(passiveShare{"passive_computation", tenths(share(got, at)), gapsOf(gaps), p.comm.Size(), p.window.Path(target)}); err != nil {
			return err
		}
	}
	return nil
}

func (p *passive) result(i int, r round) passiveResult {
	times := []float64{}
	if all := p.times[r]; all != nil {
		times = all[i]
	}
	result := passiveResult{
		Op: "passive_" + operations[i].name, Bytes: word, Samples: len(times), Target: "idle", Gaps: gapsOf(r.gaps),
		Ranks: p.comm.Size(), Transport: p.window.Path(target),
	}
	if r.busy {
		result.Target = "busy"
	}
	if len(times) > 0 {
		result.US, result.P99 = tenths(figures.Median(times)), tenths(percentile(times, 99))
	}
	return result
}

// percentile is the smallest value that at least so many of a hundred do not exceed.
func percentile(values []float64, percent int) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max((len(sorted)*percent+99)/100-1, 0)]
}

func share(got []int64, at int) float64 { return float64(got[at]) / float64(max(got[quietAt], 1)) }

// tenths keeps a tenth of a nanosecond, as other results do.
func tenths(v float64) float64 { return math.Round(v*1e4) / 1e4 }
