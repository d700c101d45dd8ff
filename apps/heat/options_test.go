package main

import (
	"strings"
	"testing"
)

func TestParseOptions(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want options
	}{
		{nil, options{n: 512, steps: 4000, every: 500, out: "heat.png", verify: true}},
		{[]string{"--n=5", "--steps=3", "--out="}, options{n: 5, steps: 3, every: 1, verify: true}},
		{[]string{"--n", "4096", "--steps", "1000"}, options{n: 4096, steps: 1000, every: 125, out: "heat.png"}},
		{[]string{"--n", "4096", "--steps", "1000", "--verify"}, options{n: 4096, steps: 1000, every: 125, out: "heat.png", verify: true}},
		{[]string{"--verify=false", "--every", "7"}, options{n: 512, steps: 4000, every: 7, out: "heat.png"}},
		{[]string{"--steps", "0"}, options{n: 512, every: 1, out: "heat.png", verify: true}},
	} {
		if got, err := parseOptions(tt.args, nil); err != nil || got != tt.want {
			t.Errorf("%q: %+v, %v; want %+v", tt.args, got, err, tt.want)
		}
	}
}

// TestExitCodes runs the whole program as a world of one rank.
func TestExitCodes(t *testing.T) {
	for _, tt := range []struct {
		args     string
		code     int
		out, err string
	}{
		{"--n 9 --steps 4 --out=", 0, "verified: equal to the serial result, bit for bit", ""},
		{"--help", 0, "Examples:", ""},
		{"--n 2", 2, "", "--n 2: must lie between 3 and 16384"},
		{"--n 40000", 2, "", "--n 40000: must lie"},
		{"--steps -1", 2, "", "--steps -1: must not be negative"},
		{"--every 0", 2, "", "--every 0: must be at least 1"},
		{"--stepz 3", 2, "", "heat --help tells how to use it"},
		{"plate.txt", 2, "", `unexpected argument "plate.txt"`},
		{"--n 9 --steps 1 --out /nowhere/at/all.png", 1, "", "rank 0: open /nowhere/"},
	} {
		var out, errs strings.Builder
		if code := heat.Start(strings.Fields(tt.args), &out, &errs); code != tt.code {
			t.Errorf("%s: exit code %d; want %d", tt.args, code, tt.code)
		}
		if !strings.Contains(out.String(), tt.out) || !strings.Contains(errs.String(), tt.err) || (tt.err == "") != (errs.Len() == 0) {
			t.Errorf("%s: %q, errors %q; want %q, %q", tt.args, &out, &errs, tt.out, tt.err)
		}
	}
}
