package report

import (
	"math"

	"github.com/golaunch/golaunch/apps/internal/bench/figures"
)

// A Comparison is a Row with its figures: the median over the rounds, in
// microseconds (in bytes for PrivateMemory), and NaN where nothing was measured.
type Comparison struct {
	Row
	Ours    float64
	OpenMPI float64
	MPICH   float64
	Calls   float64 // bare system calls, where the row asks for them
}

// Compare fills the rows from the records. Rows of which this project has no
// figure are left out.
func Compare(rows []Row, records []Record) []Comparison {
	var filled []Comparison
	for _, row := range rows {
		c := Comparison{
			Row:     row,
			Ours:    median(records, row, Golaunch, row.Buffers),
			OpenMPI: median(records, row, OpenMPI, Heap),
			MPICH:   median(records, row, MPICH, Heap),
			Calls:   math.NaN(),
		}
		if row.Bare {
			bare := row
			bare.Op = BarePingpong
			c.Calls = median(records, bare, Golaunch, Heap)
		}
		if !math.IsNaN(c.Ours) {
			filled = append(filled, c)
		}
	}
	return filled
}

func median(records []Record, row Row, peer, buffers string) float64 {
	var values []float64
	for _, r := range records {
		if r.Peer != peer || r.Op != row.Op || r.Ranks != row.Ranks || (r.Transport == "tcp") != row.Network {
			continue
		}
		switch {
		case row.Op == PrivateMemory:
			values = append(values, float64(r.Bytes))
		case row.Op == Launch, r.Bytes == row.Bytes && r.Buffers == buffers:
			values = append(values, r.US)
		}
	}
	if len(values) == 0 {
		return math.NaN()
	}
	return figures.Median(values)
}

// Best is the better peer's figure, NaN without peers, or that of bare system calls.
func (c Comparison) Best() float64 {
	switch {
	case c.Bare:
		return c.Calls
	case math.IsNaN(c.OpenMPI):
		return c.MPICH
	case math.IsNaN(c.MPICH):
		return c.OpenMPI
	}
	return min(c.OpenMPI, c.MPICH)
}

// Ratio is this project's time divided by the better peer's; NaN without peers.
func (c Comparison) Ratio() float64 { return c.Ours / c.Best() }

// A Verdict tells whether a row reaches what it must.
type Verdict int

// The verdicts.
const (
	NotRequired Verdict = iota
	Unknown             // required, but no peer was measured
	Reached
	Missed
)

// Verdict compares the figures with what the row must reach.
func (c Comparison) Verdict() Verdict {
	switch {
	case c.Limit > 0:
		return verdict(c.Ours < float64(c.Limit))
	case c.AtMost == 0:
		return NotRequired
	case math.IsNaN(c.Ratio()):
		return Unknown
	}
	return verdict(c.Ratio() <= c.AtMost)
}

func verdict(ok bool) Verdict {
	if ok {
		return Reached
	}
	return Missed
}
