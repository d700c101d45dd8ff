package main

import (
	"strings"
	"testing"
)

// TestExitCodes runs the whole program as a world of one rank.
func TestExitCodes(t *testing.T) {
	for _, tt := range []struct {
		args     string
		code     int
		out, err string
	}{
		{"", 0, "", ""},
		{"--memory", 0, `{"op":"private_memory","bytes":`, ""},
		{"--help", 0, "--memory", ""},
		{"--memori", 2, "", "joinexit --help tells how to use it"},
		{"x", 2, "", `unexpected argument "x"`},
	} {
		var out, errs strings.Builder
		if code := joinexit.Start(strings.Fields(tt.args), &out, &errs); code != tt.code {
			t.Errorf("%s: exit code %d, want %d", tt.args, code, tt.code)
		}
		if !strings.Contains(out.String(), tt.out) || (tt.out == "") != (out.Len() == 0) || !strings.Contains(errs.String(), tt.err) || (tt.err == "") != (errs.Len() == 0) {
			t.Errorf("%s: %q, errors %q; want %q, %q", tt.args, &out, &errs, tt.out, tt.err)
		}
	}
}
