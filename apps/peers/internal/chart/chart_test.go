package chart

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

func demo() Chart {
	return Chart{
		Title: "Time of one operation", Subtitle: "logarithmic <scale>", NoteHead: "ratio", AsideHead: "required",
		Series: []Series{{"ours", "#0b7285", Circle}, {"one & all", "#e8890c", Diamond}, {"other", "#7b4fa3", Square}},
		Rows: []Row{
			{"First", "put 8 B", []float64{0.005, 0.041, 1.2}, "0.122", "≤ 0.25", false},
			{"First", "put 1 MiB", []float64{60, 57, 151}, "1.05", "≤ 1.00", true},
			{"Second", "no peers", []float64{3, 0, math.NaN()}, "-", "", false},
		},
	}
}

func TestDraw(t *testing.T) {
	got := Draw(demo())
	const golden = "testdata/demo.svg"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (write it anew with -update):\n%s", golden, diff)
	}
}

func TestDrawIsXML(t *testing.T) {
	d := xml.NewDecoder(strings.NewReader(Draw(demo())))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestDrawWithoutRows(t *testing.T) {
	if got := Draw(Chart{Title: "nothing"}); !strings.HasSuffix(got, "</svg>\n") || strings.Contains(got, "NaN") {
		t.Error(got)
	}
}

func TestPlaceKeepsRowsApart(t *testing.T) {
	lines, bottom := place(demo().Rows)
	if len(lines) != 5 { // 3 rows, 2 groups
		t.Fatalf("%d lines", len(lines))
	}
	for i := 1; i < len(lines); i++ {
		if gap := lines[i].y - lines[i-1].y; gap < 14 {
			t.Errorf("lines %d and %d are %v apart", i-1, i, gap)
		}
	}
	if last := lines[len(lines)-1].y; last >= bottom {
		t.Errorf("the last line stands at %v, below %v", last, bottom)
	}
}

func TestSpan(t *testing.T) {
	for _, c := range []struct {
		values     []float64
		ours, best float64
		ok         bool
	}{
		{[]float64{1, 5, 3}, 1, 3, true},
		{[]float64{1, math.NaN(), 3}, 1, 3, true},
		{[]float64{1, 0, 0}, 1, 0, false},
		{[]float64{0, 2, 3}, 0, 2, false},
		{nil, 0, 0, false},
	} {
		ours, best, ok := Row{Values: c.values}.span()
		if ours != c.ours || best != c.best || ok != c.ok {
			t.Errorf("span of %v is %v, %v, %v, want %v, %v, %v", c.values, ours, best, ok, c.ours, c.best, c.ok)
		}
	}
}
