package main

import (
	"strings"
	"testing"
)

func TestProgress(t *testing.T) {
	var out strings.Builder
	p := &progress{out: &out}
	p.start([]source{{"a", 300}, {"b", 100}, {"c", 0}})
	p.taken(0)
	if out.Len() > 0 {
		t.Errorf("shown at once: %q", &out)
	}
	p.last = p.last.Add(-progressEvery)
	p.taken(1)
	if got := out.String(); !strings.Contains(got, "1 of 3 files, 75 % of the bytes") || strings.Contains(got, "\n") {
		t.Errorf("shown: %q", got)
	}
	p.clear()
	p.clear()
	if got := out.String(); strings.Count(got, "\r\x1b[K") != 2 || !strings.HasSuffix(got, "\r\x1b[K") {
		t.Errorf("not cleared once: %q", got)
	}
}

// TestProgressNeedsATerminal: a file is none, unless golaunch says that what is
// written there comes to one.
func TestProgressNeedsATerminal(t *testing.T) {
	for env, want := range map[string]string{
		"": "", "stdout": "", "stderr": "0 of 1 files", "stdout,stderr": "0 of 1 files",
	} {
		t.Setenv(terminalVariable, env)
		f := tempFile(t)
		p := newProgress(f)
		p.start([]source{{"a", 1}})
		p.last = p.last.Add(-progressEvery)
		p.taken(0)
		p.clear()
		checkContent(t, f, want)
	}
}
