package chart

// A Series is one contender.
type Series struct {
	Name  string
	Color string
	Shape Shape
}

// Shape is how a series is marked, so that it is told by more than its colour.
type Shape int

// The shapes.
const (
	Circle Shape = iota
	Diamond
	Square
)

// A Row is one operation.
type Row struct {
	Group  string
	Label  string
	Values []float64 // microseconds, one for each series; not above 0: no mark
	Note   string    // right of the marks
	Aside  string    // after the note, small
	Bad    bool      // the note tells of something not reached
}

// A Chart is what Draw draws. The first series is this project's: a bar joins its
// mark with the best of the others.
type Chart struct {
	Title, Subtitle string
	NoteHead        string // above the notes
	AsideHead       string
	Series          []Series
	Rows            []Row
}

// Measures of the drawing, in pixels.
const (
	width      = 1000.0
	margin     = 28.0
	labelRight = 250.0 // labels end here
	plotLeft   = 270.0
	plotRight  = 806.0
	noteLeft   = 826.0
	asideFrom  = 66.0
	headHeight = 128.0
	rowHeight  = 26.0
	groupGap   = 34.0 // what a group's name takes
	groupBase  = 26.0 // its baseline, from the gap's top
	footHeight = 44.0
)

// placed is a row or a group's name with its height.
type placed struct {
	y     float64
	group string // set for a group's name
	row   Row
}

// place stacks the rows below the head, and returns the drawing's height.
func place(rows []Row) (lines []placed, bottom float64) {
	y, group := headHeight, ""
	for i, row := range rows {
		if row.Group != group || i == 0 {
			group = row.Group
			lines = append(lines, placed{y: y + groupBase, group: group})
			y += groupGap
		}
		lines = append(lines, placed{y: y + rowHeight/2, row: row})
		y += rowHeight
	}
	return lines, y + 6
}

// values are all times of all rows.
func (c Chart) values() []float64 {
	var all []float64
	for _, row := range c.Rows {
		for _, v := range row.Values {
			if v > 0 {
				all = append(all, v)
			}
		}
	}
	return all
}

// span is from this project's value to the best of the others; false when one is
// missing.
func (r Row) span() (ours, best float64, ok bool) {
	for i, v := range r.Values {
		switch {
		case !(v > 0):
		case i == 0:
			ours = v
		case best == 0 || v < best:
			best = v
		}
	}
	return ours, best, ours > 0 && best > 0
}
