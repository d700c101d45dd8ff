package main

import (
	"bufio"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"os"
	"path/filepath"
)

// Measures of the picture, in pixels.
const (
	side      = 1024 // of the plate, however many cells it has
	margin    = 48
	barWide   = 28
	labelWide = 132
	width     = margin + side + margin + barWide + labelWide
	height    = margin + side + margin
)

// Isolines lie at every odd multiple of 10 °C: not at the temperatures that cells
// are held at, where whole areas would be on the line.
const (
	firstIsoline = 10.0
	isolineStep  = 20.0
)

var (
	background = color.RGBA{0x12, 0x12, 0x18, 255}
	lettering  = color.RGBA{0xd8, 0xd8, 0xe0, 255}
)

// picture draws the plate, with isolines, and a legend beside it.
func picture(p plate, temperatures []float64) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(img, img.Bounds(), image.NewUniform(background), image.Point{}, draw.Src)
	colours := newScale()
	drawPlate(img, field{p.n, temperatures}, colours)
	drawLegend(img, colours)
	return img
}

func drawPlate(img *image.RGBA, f field, colours *scale) {
	for y := range side {
		for x := range side {
			t, slope := f.at(x, y)
			c := colours.at(t)
			line, level := isolineAt(t, slope)
			img.SetRGBA(margin+x, margin+y, blend(c, contrast(level), 0.5*line))
		}
	}
}

// contrast is the colour of an isoline: light where the plate is dark.
func contrast(level float64) color.RGBA {
	if level <= (coldest+hottest)/2 {
		return color.RGBA{255, 255, 255, 255}
	}
	return color.RGBA{40, 0, 20, 255}
}

// isolineAt is how much of a pixel the nearest isoline covers, 0 to 1, and the
// temperature it stands for. Its distance, in pixels, is the difference in
// temperature by the slope.
func isolineAt(t, slope float64) (part, level float64) {
	level = firstIsoline + isolineStep*math.Round((t-firstIsoline)/isolineStep)
	if slope < 0.01 {
		return 0, level // flat: all of it or none would be on the line
	}
	return max(0, min(1, 1.1-math.Abs(t-level)/slope)), level
}

// field is the temperatures of n by n cells, to be looked at in pixels.
type field struct {
	n     int
	cells []float64
}

// at is the temperature at the middle of a pixel, and its slope per pixel.
func (f field) at(x, y int) (t, slope float64) {
	const eps = 0.5
	u, v := float64(x)+0.5, float64(y)+0.5
	dx := f.between(u+eps, v) - f.between(u-eps, v)
	dy := f.between(u, v+eps) - f.between(u, v-eps)
	return f.between(u, v), math.Hypot(dx, dy) / (2 * eps)
}

// between interpolates between the middles of the cells around a point.
func (f field) between(u, v float64) float64 {
	col, right := f.cell(u)
	row, down := f.cell(v)
	c, below := f.cells[row*f.n+col:], f.cells[min(row+1, f.n-1)*f.n+col:]
	next := min(1, f.n-1-col)
	top := c[0] + right*(c[next]-c[0])
	bottom := below[0] + right*(below[next]-below[0])
	return top + down*(bottom-top)
}

// cell is the cell whose middle is left of (or above) a pixel coordinate, and how
// far beyond its middle that is, 0 to 1.
func (f field) cell(u float64) (int, float64) {
	x := max(0, min(float64(f.n-1), u*float64(f.n)/side-0.5))
	return int(x), x - math.Floor(x)
}

// writePNG writes the picture beside its place and moves it there, so that there
// is never half of one.
func writePNG(path string, img image.Image) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".heat-*.png")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if err := encode(f, img); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func encode(f *os.File, img image.Image) error {
	w := bufio.NewWriter(f)
	err := png.Encode(w, img)
	for _, step := range []func() error{w.Flush, func() error { return f.Chmod(0o644) }, f.Close} {
		if failed := step(); err == nil {
			err = failed
		}
	}
	return err
}
