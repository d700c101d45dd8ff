package main

import (
	"fmt"
	"math"
	"strings"
)

// A line of a plot, of points from left to right. NaN: none there.
type line struct {
	name  string
	color string
	dash  string
	y     []float64
}

// A plot has logarithmic axes.
type plot struct {
	title    string
	unit     func(float64) string // names a decade of the vertical axis
	x        []float64
	lines    []line
	lo, hi   int // decades of the vertical axis
	x0, y0   float64
	w, h     float64
	xlo, xhi float64 // logarithms
}

const (
	plotWidth, plotHeight = 470.0, 330.0
	leftMargin, topMargin = 62.0, 44.0
	rightMargin           = 96.0 // for the names of lines
	bottomMargin          = 46.0
)

// place puts a plot's frame where its left upper corner is given.
func (p *plot) place(left, top float64) {
	p.x0, p.y0 = left+leftMargin, top+topMargin
	p.w, p.h = plotWidth-leftMargin-rightMargin, plotHeight-topMargin-bottomMargin
	p.xlo, p.xhi = math.Log10(p.x[0]), math.Log10(p.x[len(p.x)-1])
	least, most := math.Inf(1), math.Inf(-1)
	for _, l := range p.lines {
		for _, y := range l.y {
			if y > 0 {
				least, most = min(least, y), max(most, y)
			}
		}
	}
	p.lo, p.hi = int(math.Floor(math.Log10(least))), int(math.Ceil(math.Log10(most)))
	if p.lo == p.hi {
		p.hi++
	}
}

func (p *plot) at(x, y float64) (float64, float64) {
	across := (math.Log10(x) - p.xlo) / (p.xhi - p.xlo)
	up := (math.Log10(y) - float64(p.lo)) / float64(p.hi-p.lo)
	return p.x0 + across*p.w, p.y0 + (1-up)*p.h
}

func (p *plot) draw(b *strings.Builder) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" class="title">%s</text>`+"\n", p.x0-leftMargin+10, p.y0-18, p.title)
	for d := p.lo; d <= p.hi; d++ {
		_, y := p.at(p.x[0], math.Pow(10, float64(d)))
		fmt.Fprintf(b, `<path d="M%.1f %.1fh%.1f" class="grid"/><text x="%.1f" y="%.1f" class="tick" text-anchor="end">%s</text>`+"\n",
			p.x0, y, p.w, p.x0-6, y+4, p.unit(math.Pow(10, float64(d))))
	}
	for d := math.Ceil(p.xlo); d <= p.xhi; d++ {
		x, _ := p.at(math.Pow(10, d), math.Pow(10, float64(p.lo)))
		fmt.Fprintf(b, `<path d="M%.1f %.1fv%.1f" class="grid"/><text x="%.1f" y="%.1f" class="tick" text-anchor="middle">%s</text>`+"\n",
			x, p.y0, p.h, x, p.y0+p.h+16, count(math.Pow(10, d)))
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" class="tick" text-anchor="middle">hosts</text>`+"\n", p.x0+p.w/2, p.y0+p.h+34)
	names := p.names()
	for i, l := range p.lines {
		p.drawLine(b, l)
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" class="name" style="fill:%s">%s</text>`+"\n", p.x0+p.w+7, names[i]+4, l.color, l.name)
	}
}

func (p *plot) drawLine(b *strings.Builder, l line) {
	move := "M"
	b.WriteString(`<path d="`)
	for i, y := range l.y {
		if y > 0 {
			px, py := p.at(p.x[i], y)
			fmt.Fprintf(b, "%s%.1f %.1f", move, px, py)
			move = "L"
		}
	}
	fmt.Fprintf(b, `" class="line" stroke="%s" stroke-dasharray="%s"/>`+"\n", l.color, l.dash)
}

// names are the heights of the lines' names: where the lines end, but apart.
func (p *plot) names() []float64 {
	const apart = 14.0
	ys, order := make([]float64, len(p.lines)), make([]int, len(p.lines))
	for i, l := range p.lines {
		_, ys[i] = p.at(1, l.y[len(l.y)-1])
		order[i] = i
	}
	for i := range order { // by height
		for k := i; k > 0 && ys[order[k]] < ys[order[k-1]]; k-- {
			order[k], order[k-1] = order[k-1], order[k]
		}
	}
	for i := 1; i < len(order); i++ {
		ys[order[i]] = max(ys[order[i]], ys[order[i-1]]+apart)
	}
	for i, limit := len(order)-1, p.y0+p.h; i >= 0; i, limit = i-1, min(limit, ys[order[i]])-apart {
		ys[order[i]] = min(ys[order[i]], limit)
	}
	return ys
}

// count is a whole number with its thousands apart.
func count(n float64) string {
	text := fmt.Sprintf("%.0f", n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func seconds(s float64) string {
	switch {
	case s >= 1:
		return count(s) + " s"
	case s >= 1e-3:
		return fmt.Sprintf("%.0f ms", s*1e3)
	}
	return fmt.Sprintf("%.0f µs", s*1e6)
}
