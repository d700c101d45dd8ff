package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExitCodes runs the whole program as a world of one rank.
func TestExitCodes(t *testing.T) {
	root := writeTree(t, map[string]string{"a.go": "package a"})
	for _, tt := range []struct {
		args     []string
		code     int
		out, err string
	}{
		{[]string{"--verify", root}, 0, "verified: a serial count", ""},
		{[]string{"--help"}, 0, "Examples:", ""},
		{[]string{"--json", "--top", "x"}, 2, "", "wordcount --help tells"},
		{[]string{filepath.Join(root, "gone")}, 1, "", "rank 0: "},
	} {
		out, errs := tempFile(t), tempFile(t)
		if code := wordcount.Start(tt.args, out, errs); code != tt.code {
			t.Errorf("%q: exit code %d; want %d", tt.args, code, tt.code)
		}
		checkContent(t, out, tt.out)
		checkContent(t, errs, tt.err)
	}
}

func tempFile(t *testing.T) *os.File {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// checkContent: f contains want, and is empty when want is.
func checkContent(t *testing.T, f *os.File, want string) {
	t.Helper()
	got, err := os.ReadFile(f.Name())
	if err != nil || !strings.Contains(string(got), want) || (want == "" && len(got) > 0) {
		t.Errorf("%v, %q; want %q", err, got, want)
	}
}
