package chart

import "math"

// axis maps microseconds to horizontal pixels, logarithmically.
type axis struct {
	lo, hi      int // decades: 10^lo to 10^hi microseconds
	left, right float64
}

// newAxis covers all values with whole decades, at least one.
func newAxis(values []float64, left, right float64) axis {
	least, most := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		least, most = min(least, v), max(most, v)
	}
	if least > most {
		least, most = 1, 1
	}
	a := axis{int(math.Floor(math.Log10(least))), int(math.Ceil(math.Log10(most))), left, right}
	if a.hi == a.lo {
		a.hi++
	}
	return a
}

// at is where a time stands.
func (a axis) at(us float64) float64 {
	return a.left + (math.Log10(us)-float64(a.lo))/float64(a.hi-a.lo)*(a.right-a.left)
}

// A tick is a labelled decade.
type tick struct {
	x    float64
	name string
}

func (a axis) ticks() []tick {
	ticks := make([]tick, 0, a.hi-a.lo+1)
	for decade := a.lo; decade <= a.hi; decade++ {
		us := math.Pow(10, float64(decade))
		ticks = append(ticks, tick{a.at(us), decadeName(decade)})
	}
	return ticks
}

// decadeName names 10^decade microseconds.
func decadeName(decade int) string {
	units := []string{"ps", "ns", "µs", "ms", "s", "ks"}
	thousand := int(math.Floor(float64(decade) / 3))
	unit := min(max(thousand+2, 0), len(units)-1)
	zeros := decade - 3*(unit-2)
	return []string{"1 ", "10 ", "100 "}[min(max(zeros, 0), 2)] + units[unit]
}
