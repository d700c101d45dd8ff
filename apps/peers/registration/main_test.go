package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/golaunch/golaunch/apps/peers/internal/chart"
)

const results = `
{"op":"register","bytes":4096,"us":500,"transport":"verbs"}
{"op":"register","bytes":65536,"us":600,"transport":"verbs"}
{"op":"arena_remote","bytes":4096,"us":0.25,"transport":"verbs"}
{"op":"arena_remote","bytes":65536,"us":60,"transport":"verbs"}
{"op":"foreign_hit","bytes":8,"us":1,"transport":"verbs"}
`

// What is compared with nothing is left out, and what falls short is marked.
func TestRows(t *testing.T) {
	all, err := read(strings.NewReader(results))
	if err != nil {
		t.Fatal(err)
	}
	want := []chart.Row{
		{Group: pairs[0].group, Label: "4 KiB", Values: []float64{0.25, 500}, Note: "2000"},
		{Group: pairs[0].group, Label: "64 KiB", Values: []float64{60, 600}, Note: "10", Aside: "≥ 100", Bad: true},
	}
	if diff := cmp.Diff(want, rows(all)); diff != "" {
		t.Error(diff)
	}
}

func TestDraw(t *testing.T) {
	var out strings.Builder
	if err := draw(strings.NewReader(results), &out); err != nil || !strings.Contains(out.String(), "over verbs") || !strings.Contains(out.String(), "</svg>") {
		t.Errorf("%v: %s", err, out.String())
	}
	for _, in := range []string{"", "x", `{"op":1}`} {
		if err := draw(strings.NewReader(in), &out); err == nil {
			t.Errorf("%q is drawn", in)
		}
	}
}
