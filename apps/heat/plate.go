package main

import "math"

// Temperatures, in degrees Celsius.
const (
	coldest = 0.0
	ambient = 20.0
	hottest = 100.0
)

// plate is the problem: n by n cells of copper. It is computed by every rank for
// itself and does not change.
//
// The cells of the rim keep the temperature of the room, those of the pipes that
// of what flows in them. All others start at the temperature of the room.
type plate struct {
	n int
}

const (
	plateWidth  = 0.2     // m
	diffusivity = 1.17e-4 // m²/s, of copper

	// rate is diffusivity * time step / cell width². Up to 1/4 the computation
	// is stable; at 1/4 itself, a chequered pattern would never fade.
	rate = 0.2
)

// seconds is the physical time that steps take.
func (p plate) seconds(steps int) float64 {
	cell := plateWidth / float64(p.n)
	return float64(steps) * rate * cell * cell / diffusivity
}

// Geometry of the pipes, as parts of the plate's width.
const (
	pipeRadius = 1.0 / 140
	innermost  = 0.045 // distance of a pipe's inner end from the centre
	outermost  = 0.44
	turns      = 3
)

// pipe returns the temperature of the pipe in a cell, if there is one. Both are
// Archimedean spirals; the cold one is the hot one, turned by half a circle.
func (p plate) pipe(row, col int) (temperature float64, held bool) {
	half := float64(p.n-1) / 2
	x, y := (float64(col)-half)/float64(p.n), (half-float64(row))/float64(p.n)
	r := math.Hypot(x, y)
	if r < innermost-pipeRadius || r > outermost+pipeRadius {
		return 0, false
	}
	angle := math.Atan2(y, x)
	if p.onSpiral(r, angle) {
		return hottest, true
	}
	return coldest, p.onSpiral(r, angle+math.Pi)
}

// onSpiral reports whether a point lies on the spiral that starts at angle 0.
func (p plate) onSpiral(r, angle float64) bool {
	const pitch = (outermost - innermost) / turns
	wound := (r-innermost)/pitch - angle/(2*math.Pi)
	return math.Abs(wound-math.Round(wound))*pitch < pipeRadius
}

// A span is columns from to to-1 of a row, which are held at a temperature.
type span struct {
	from, to    int
	temperature float64
}

// held returns the spans of a row, in order. The first and the last column are
// always among them.
func (p plate) held(row int) []span {
	if row == 0 || row == p.n-1 {
		return []span{{0, p.n, ambient}}
	}
	var spans []span
	for col := range p.n {
		temperature, held := p.pipe(row, col)
		if col == 0 || col == p.n-1 {
			temperature, held = ambient, true
		}
		if !held {
			continue
		}
		last := len(spans) - 1
		if last >= 0 && spans[last].to == col && spans[last].temperature == temperature {
			spans[last].to++
		} else {
			spans = append(spans, span{col, col + 1, temperature})
		}
	}
	return spans
}

// start sets a row to what it starts with.
func start(row []float64, spans []span) {
	for col := range row {
		row[col] = ambient
	}
	for _, s := range spans {
		for col := s.from; col < s.to; col++ {
			row[col] = s.temperature
		}
	}
}
