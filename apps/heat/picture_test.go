package main

import (
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestScaleIsEven: equal steps of temperature are equal steps of lightness, up to
// what eight bits can show.
func TestScaleIsEven(t *testing.T) {
	s := newScale()
	first, last := toOklab(s[0]).l, toOklab(s[len(s)-1]).l
	for i, c := range s {
		want := first + (last-first)*float64(i)/float64(len(s)-1)
		if got := toOklab(c).l; math.Abs(got-want) > 0.004 {
			t.Fatalf("colour %d, %v: lightness %.4f; want %.4f", i, c, got, want)
		}
	}
	if s[0] != anchors[0] || s[len(s)-1] != anchors[len(anchors)-1] {
		t.Errorf("from %v to %v", s[0], s[len(s)-1])
	}
}

func TestAnchorsGrowLighter(t *testing.T) {
	for i := 1; i < len(anchors); i++ {
		if toOklab(anchors[i]).l <= toOklab(anchors[i-1]).l {
			t.Errorf("anchor %d is not lighter than the one before", i)
		}
	}
}

func TestOklabRoundTrip(t *testing.T) {
	for r := 0; r < 256; r += 15 {
		for g := 0; g < 256; g += 15 {
			for b := 0; b < 256; b += 15 {
				c := color.RGBA{uint8(r), uint8(g), uint8(b), 255}
				if got := toOklab(c).rgb(); got != c {
					t.Fatalf("%v comes back as %v", c, got)
				}
			}
		}
	}
}

func TestScaleEndsHold(t *testing.T) {
	s := newScale()
	if s.at(coldest-50) != s[0] || s.at(hottest+1e6) != s[len(s)-1] {
		t.Error("temperatures beyond the scale do not get the colours of its ends")
	}
}

func TestIsolines(t *testing.T) {
	for _, tt := range []struct{ t, slope, level, part float64 }{
		{30, 1, 30, 1}, {30.6, 1, 30, 0.5}, {29.4, 1, 30, 0.5}, {32, 1, 30, 0}, {51, 10, 50, 1},
		{0, 1, 10, 0}, {100, 1, 90, 0}, // what is held is on no line
		{30, 0, 30, 0}, // nor is what is flat
	} {
		part, level := isolineAt(tt.t, tt.slope)
		if math.Abs(part-tt.part) > 1e-9 || (part > 0 && level != tt.level) {
			t.Errorf("%v °C, slope %v: %v of the line at %v; want %v at %v", tt.t, tt.slope, part, level, tt.part, tt.level)
		}
	}
}

func TestFieldInterpolates(t *testing.T) {
	const n = 8 // temperature 2*row + 3*col
	cells := make([]float64, n*n)
	for i := range cells {
		cells[i] = float64(2*(i/n) + 3*(i%n))
	}
	f := field{n, cells}
	got, slope := f.at(side/2, side/4)
	want := 2*((side/4+0.5)*n/side-0.5) + 3*((side/2+0.5)*n/side-0.5)
	if math.Abs(got-want) > 1e-9 || math.Abs(slope-math.Hypot(2, 3)*n/side) > 1e-9 {
		t.Errorf("%v, slope %v; want %v", got, slope, want)
	}
	for _, corner := range []struct{ x, y, cell int }{{0, 0, 0}, {side - 1, 0, n - 1}, {0, side - 1, n*n - n}, {side - 1, side - 1, n*n - 1}} {
		if got, _ := f.at(corner.x, corner.y); got != cells[corner.cell] {
			t.Errorf("corner %v: %v", corner, got)
		}
	}
}

func TestPictureShowsThePlate(t *testing.T) {
	for _, n := range []int{3, 65} {
		p := plate{n}
		img := picture(p, serial(p, 20))
		if img.Bounds() != image.Rect(0, 0, width, height) || img.RGBAAt(0, 0) != background {
			t.Fatalf("%v, corner %v", img.Bounds(), img.RGBAAt(0, 0))
		}
		s := newScale()
		if got, want := img.RGBAAt(margin, margin), s.at(ambient); got != want {
			t.Errorf("n %d: the rim is %v; want %v", n, got, want)
		}
		if got := img.RGBAAt(margin+side+margin, margin); got != s.at(hottest) {
			t.Errorf("n %d: the legend begins with %v", n, got)
		}
	}
}

func TestWriteLeavesOutUnknownCharacters(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 60, 30))
	write(img, 0, 0, "é", lettering)
	write(img, 50, 20, "8", lettering) // partly outside
	for _, v := range img.Pix[:20*img.Stride] {
		if v != 0 {
			t.Fatal("something was drawn")
		}
	}
}

func TestWritePNG(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "plate.png")
	img := image.NewRGBA(image.Rect(0, 0, 3, 2))
	img.Set(2, 1, lettering)
	for range 2 { // the second replaces the first
		if err := writePNG(path, img); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := png.Decode(f)
	if err != nil || got.Bounds() != img.Bounds() || color.RGBAModel.Convert(got.At(2, 1)) != lettering {
		t.Errorf("%v, %v", got, err)
	}
	if err := os.Mkdir(filepath.Join(dir, "taken.png"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := writePNG(filepath.Join(dir, "taken.png"), img); err == nil {
		t.Error("a directory was replaced")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
