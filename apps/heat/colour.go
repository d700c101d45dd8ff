package main

import (
	"image/color"
	"math"
)

// oklab is a colour in a space where equal distances look equally different:
// lightness, and two axes of hue (Björn Ottosson, "A perceptual color space for
// image processing", 2020).
type oklab struct{ l, a, b float64 }

// anchors are the colours that the scale passes, from cold to hot. Their
// lightness grows strictly.
var anchors = []color.RGBA{
	{0x08, 0x0e, 0x30, 255}, // night
	{0x2e, 0x18, 0x72, 255}, // violet
	{0x76, 0x1c, 0x7e, 255}, // purple
	{0xc2, 0x32, 0x5f, 255}, // crimson
	{0xee, 0x6a, 0x35, 255}, // orange
	{0xfa, 0xb3, 0x45, 255}, // amber
	{0xfd, 0xf4, 0xc8, 255}, // cream
}

// scale is the colour scale: 1024 colours whose lightness grows evenly, so that
// equal steps of temperature look equally large, in print without colour too.
type scale [1024]color.RGBA

func newScale() *scale {
	stops := make([]oklab, len(anchors))
	for i, c := range anchors {
		stops[i] = toOklab(c)
	}
	first, last := stops[0].l, stops[len(stops)-1].l
	var s scale
	for i := range s {
		s[i] = atLightness(stops, first+(last-first)*float64(i)/float64(len(s)-1)).rgb()
	}
	return &s
}

// at is the colour of a temperature.
func (s *scale) at(temperature float64) color.RGBA {
	part := (temperature - coldest) / (hottest - coldest)
	i := int(part*float64(len(s)-1) + 0.5)
	return s[max(0, min(len(s)-1, i))]
}

// atLightness is the colour of lightness l on the line through the stops.
func atLightness(stops []oklab, l float64) oklab {
	i := 0
	for i < len(stops)-2 && l > stops[i+1].l {
		i++
	}
	from, to := stops[i], stops[i+1]
	part := (l - from.l) / (to.l - from.l)
	return oklab{l, from.a + part*(to.a-from.a), from.b + part*(to.b-from.b)}
}

func toOklab(c color.RGBA) oklab {
	r, g, b := linear(c.R), linear(c.G), linear(c.B)
	l := math.Cbrt(0.4122214708*r + 0.5363325363*g + 0.0514459929*b)
	m := math.Cbrt(0.2119034982*r + 0.6806995451*g + 0.1073969566*b)
	s := math.Cbrt(0.0883024619*r + 0.2817188376*g + 0.6299787005*b)
	return oklab{
		0.2104542553*l + 0.7936177850*m - 0.0040720468*s,
		1.9779984951*l - 2.4285922050*m + 0.4505937099*s,
		0.0259040371*l + 0.7827717662*m - 0.8086757660*s,
	}
}

func (c oklab) rgb() color.RGBA {
	l := cube(c.l + 0.3963377774*c.a + 0.2158037573*c.b)
	m := cube(c.l - 0.1055613458*c.a - 0.0638541728*c.b)
	s := cube(c.l - 0.0894841775*c.a - 1.2914855480*c.b)
	return color.RGBA{
		companded(+4.0767416621*l - 3.3077115913*m + 0.2309699292*s),
		companded(-1.2684380046*l + 2.6097574011*m - 0.3413193965*s),
		companded(-0.0041960863*l - 0.7034186147*m + 1.7076147010*s),
		255,
	}
}

func cube(x float64) float64 { return x * x * x }

// linear is the amount of light of an sRGB value (IEC 61966-2-1).
func linear(v uint8) float64 {
	x := float64(v) / 255
	if x <= 0.04045 {
		return x / 12.92
	}
	return math.Pow((x+0.055)/1.055, 2.4)
}

// companded is the sRGB value of an amount of light, within what it can show.
func companded(x float64) uint8 {
	x = max(0, min(1, x))
	if x <= 0.0031308 {
		x *= 12.92
	} else {
		x = 1.055*math.Pow(x, 1/2.4) - 0.055
	}
	return uint8(x*255 + 0.5)
}

// blend mixes c into a pixel, with part 0 to 1 of it.
func blend(under, c color.RGBA, part float64) color.RGBA {
	mix := func(a, b uint8) uint8 { return uint8(float64(a) + part*(float64(b)-float64(a)) + 0.5) }
	return color.RGBA{mix(under.R, c.R), mix(under.G, c.G), mix(under.B, c.B), 255}
}
