package main

import (
	"encoding/xml"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The files in docs are what this program writes (make scale).
func TestDocsAreWhatIsWritten(t *testing.T) {
	files, err := write()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile("../../../../docs/" + name)
		if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
			t.Errorf("%s (make scale writes it): %v\n%s", name, err, diff)
		}
	}
	for d := xml.NewDecoder(strings.NewReader(files["scale.svg"])); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestNamesAreApart(t *testing.T) {
	p := &plot{x: []float64{1, 10}, lines: []line{{y: []float64{1, 1}}, {y: []float64{1, 100}}, {y: []float64{1, 1.01}}, {y: []float64{1, 1}}}}
	p.place(0, 0)
	names := p.names()
	for i, a := range names {
		if a < p.y0-1 || a > p.y0+p.h {
			t.Errorf("name %d is at %v, outside", i, a)
		}
		for k, b := range names[:i] {
			if d := a - b; d < 13.9 && d > -13.9 {
				t.Errorf("names %d and %d are at %v and %v", k, i, b, a)
			}
		}
	}
}
