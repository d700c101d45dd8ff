package chart

import (
	"fmt"
	"html"
	"strings"
)

// Colours of everything but the marks.
const (
	ink   = "#1f2933"
	quiet = "#6b7785"
	grid  = "#e3e8ee"
	guide = "#f0f3f6"
	good  = "#1a7f37"
	bad   = "#c2271d"
)

// Draw returns the chart as an SVG document.
func Draw(c Chart) string {
	d := &drawing{}
	lines, bottom := place(c.Rows)
	a := newAxis(c.values(), plotLeft, plotRight)
	height := bottom + footHeight
	d.open(height)
	d.head(c)
	d.grid(a, bottom)
	for _, line := range lines {
		if line.group != "" {
			d.text(margin, line.y, 14, ink, "start", "bold", line.group)
			continue
		}
		d.row(c, a, line)
	}
	d.WriteString("</svg>\n")
	return d.String()
}

// drawing is an SVG document being written.
type drawing struct{ strings.Builder }

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(d, format+"\n", args...) }

func (d *drawing) open(height float64) {
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-family="'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif">`,
		width, height, width, height)
	d.printf(`<rect width="%.0f" height="%.0f" fill="#ffffff"/>`, width, height)
}

func (d *drawing) text(x, y, size float64, color, anchor, weight, text string) {
	d.printf(`<text x="%.1f" y="%.1f" font-size="%.0f" fill="%s" text-anchor="%s" font-weight="%s">%s</text>`,
		x, y, size, color, anchor, weight, html.EscapeString(text))
}

// head writes the title, the legend, and what the notes are.
func (d *drawing) head(c Chart) {
	d.text(margin, 40, 21, ink, "start", "bold", c.Title)
	d.text(margin, 63, 13, quiet, "start", "normal", c.Subtitle)
	x := plotLeft + 6
	for _, s := range c.Series {
		d.mark(s, x, 91)
		d.text(x+14, 95.5, 13, ink, "start", "normal", s.Name)
		x += 40 + 7.5*float64(len(s.Name))
	}
	d.text(noteLeft, 95.5, 13, ink, "start", "bold", c.NoteHead)
	d.text(noteLeft+asideFrom, 95.5, 11, quiet, "start", "normal", c.AsideHead)
}

// grid draws a line and a name for each decade, above and below the rows.
func (d *drawing) grid(a axis, bottom float64) {
	for _, t := range a.ticks() {
		d.printf(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`, t.x, headHeight, t.x, bottom, grid)
		d.text(t.x, headHeight-7, 11, quiet, "middle", "normal", t.name)
		d.text(t.x, bottom+17, 11, quiet, "middle", "normal", t.name)
	}
}

func (d *drawing) row(c Chart, a axis, line placed) {
	row := line.row
	d.text(labelRight, line.y+4.5, 13, ink, "end", "normal", row.Label)
	d.printf(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`, plotLeft, line.y, plotRight, line.y, guide)
	if ours, best, ok := row.span(); ok {
		d.printf(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-opacity="0.22" stroke-width="7" stroke-linecap="round"/>`,
			a.at(ours), line.y, a.at(best), line.y, c.Series[0].Color)
	}
	// The peers' smaller marks lie on top of this project's.
	for i, v := range row.Values {
		if v > 0 {
			d.mark(c.Series[i], a.at(v), line.y+aside(i))
		}
	}
	color := good
	if row.Bad {
		color = bad
	}
	if row.Aside == "" {
		color = quiet
	}
	d.text(noteLeft, line.y+4.5, 13, color, "start", "bold", row.Note)
	d.text(noteLeft+asideFrom, line.y+4.5, 11, quiet, "start", "normal", row.Aside)
}

// aside moves the peers' marks off the row's centre, one up and one down, so that
// equal times stay visible.
func aside(series int) float64 { return []float64{0, -5.5, 5.5}[series%3] }

func (d *drawing) mark(s Series, x, y float64) {
	const outline = `stroke="#ffffff" stroke-width="1.2"`
	switch s.Shape {
	case Diamond:
		d.printf(`<path d="M%.1f %.1fl5.6 5.6l-5.6 5.6l-5.6 -5.6z" fill="%s" %s/>`, x, y-5.6, s.Color, outline)
	case Square:
		d.printf(`<rect x="%.1f" y="%.1f" width="8.4" height="8.4" fill="%s" %s/>`, x-4.2, y-4.2, s.Color, outline)
	default:
		d.printf(`<circle cx="%.1f" cy="%.1f" r="6" fill="%s" %s/>`, x, y, s.Color, outline)
	}
}
