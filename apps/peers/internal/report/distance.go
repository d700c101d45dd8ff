package report

import (
	"fmt"
	"math"
)

// agreement is the factor by which distances that count as the same may differ. Those
// between cores that stay where they are seldom differ by more than 1.3, and when a
// virtual machine's cores are moved the distance changes by 3 or more.
const agreement = 1.5

// A Distance is what a cache line took to another core and back, in nanoseconds:
// the least and the most of what was measured around the runs of one case in one
// round. The zero Distance stands for nothing measured.
type Distance struct {
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
}

// With returns the Distance that has ns in it too.
func (d Distance) With(ns float64) Distance {
	if !d.Measured() {
		return Distance{ns, ns}
	}
	return Distance{min(d.Least, ns), max(d.Most, ns)}
}

// Measured tells whether there is anything in it.
func (d Distance) Measured() bool { return d != Distance{} }

// Spread is how many times the least is contained in the most: 1 when all were
// the same, or nothing was measured.
func (d Distance) Spread() float64 {
	if !d.Measured() {
		return 1
	}
	return d.Most / d.Least
}

// Agrees tells whether the cores stayed as near each other as they were, as far as
// one can tell.
func (d Distance) Agrees() bool { return d.Spread() <= agreement }

func (d Distance) String() string {
	if !d.Measured() {
		return "not measured"
	}
	return fmt.Sprintf("%.0f to %.0f ns", d.Least, d.Most)
}

// check refuses what no clock measures.
func (d Distance) check() error {
	if d.Measured() && !(0 < d.Least && d.Least <= d.Most && !math.IsInf(d.Most, 0)) {
		return fmt.Errorf("a distance of %v to %v ns", d.Least, d.Most)
	}
	return nil
}
