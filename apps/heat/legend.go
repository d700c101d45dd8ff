package main

import (
	"image"
	"image/color"
	"strconv"
)

// glyphs are the characters of the legend, five pixels wide: one row a byte, the
// left pixel the highest of five bits.
var glyphs = map[rune][7]byte{
	'0': {0x0e, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0e},
	'1': {0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e},
	'2': {0x0e, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1f},
	'3': {0x0e, 0x11, 0x01, 0x06, 0x01, 0x11, 0x0e},
	'4': {0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02},
	'5': {0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e},
	'6': {0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e},
	'7': {0x1f, 0x01, 0x02, 0x04, 0x04, 0x08, 0x08},
	'8': {0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e},
	'9': {0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c},
	'°': {0x0c, 0x12, 0x12, 0x0c, 0x00, 0x00, 0x00},
	'C': {0x0e, 0x11, 0x10, 0x10, 0x10, 0x11, 0x0e},
	' ': {},
}

const (
	dot     = 3       // pixels of the picture to one of a glyph
	advance = 6 * dot // from one character to the next
	tall    = 7 * dot
)

// write draws text with its left upper corner at x, y. Characters without a glyph
// are left out.
func write(img *image.RGBA, x, y int, text string, c color.RGBA) {
	for _, r := range text {
		for row, bits := range glyphs[r] {
			for col := range 5 {
				if bits>>(4-col)&1 == 1 {
					fill(img, image.Rect(0, 0, dot, dot).Add(image.Pt(x+col*dot, y+row*dot)), c)
				}
			}
		}
		x += advance
	}
}

func fill(img *image.RGBA, r image.Rectangle, c color.RGBA) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			img.SetRGBA(x, y, c)
		}
	}
}

// drawLegend draws the colour scale, hot above, with its isolines, and a number at
// every 20 degrees.
func drawLegend(img *image.RGBA, colours *scale) {
	const left = margin + side + margin
	for y := range side {
		t := hottest - (hottest-coldest)*float64(y)/(side-1)
		fill(img, image.Rect(left, margin+y, left+barWide, margin+y+1), colours.at(t))
	}
	for t := firstIsoline; t < hottest; t += isolineStep {
		c := blend(colours.at(t), contrast(t), 0.5)
		fill(img, image.Rect(left, legendY(t), left+barWide, legendY(t)+1), c)
	}
	for t := coldest; t <= hottest; t += 20 {
		fill(img, image.Rect(left+barWide, legendY(t), left+barWide+6, legendY(t)+1), lettering)
		write(img, left+barWide+12, legendY(t)-tall/2, strconv.Itoa(int(t))+" °C", lettering)
	}
}

// legendY is the height at which a temperature lies beside the colour scale.
func legendY(t float64) int {
	return margin + int((hottest-t)/(hottest-coldest)*(side-1)+0.5)
}
