package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSource(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      map[string]uint64
	}{
		{"empty", "", map[string]uint64{}},
		{"keywords are none", "package p; func f() { return }", map[string]uint64{"p": 1, "f": 1}},
		{"predeclared and blank ones are", "var _, x int = nil, len(x)", map[string]uint64{"_": 1, "x": 2, "int": 1, "nil": 1, "len": 1}},
		{"unicode", "var größe, 世界, _x9, ǅ = größe", map[string]uint64{"größe": 2, "世界": 1, "_x9": 1, "ǅ": 1}},
		{"literals and comments", "// a\n/* b */ x := `c` + \"d\" + 'e' + 0x1F + 1e5 + 2i", map[string]uint64{"x": 1}},
		{"errors do not stop it", "var a = \"open\nvar b = 0xZZ }{ @ c", map[string]uint64{"a": 1, "b": 1, "ZZ": 1, "c": 1}},
		{"bytes that are no UTF-8", "a\xff\xfeb\x00c", map[string]uint64{"a": 1, "b": 1, "c": 1}},
		{"an open comment hides the rest", "a /* b c", map[string]uint64{"a": 1}},
	} {
		c := newCounter()
		if err := c.source([]byte(tt.src)); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, c.counts); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, diff)
		}
		total := uint64(0)
		for _, n := range c.counts {
			total += n
		}
		if total != c.identifiers {
			t.Errorf("%s: %d identifiers in total, %d by name", tt.name, c.identifiers, total)
		}
	}
}

func TestLongIdentifier(t *testing.T) {
	longest := strings.Repeat("x", maxIdentifier)
	if err := newCounter().source([]byte(longest)); err != nil {
		t.Error(err)
	}
	path := filepath.Join(t.TempDir(), "long.go")
	if err := os.WriteFile(path, []byte(longest+"x"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := newCounter().file(path)
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "65536 bytes") {
		t.Errorf("%v; want an error with the file and the length", err)
	}
}

func TestFileReusesItsBuffer(t *testing.T) {
	root := writeTree(t, map[string]string{"a.go": "long long long", "b.go": "b"})
	c := newCounter()
	for _, name := range []string{"a.go", "b.go", "a.go"} {
		if err := c.file(filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(map[string]uint64{"long": 6, "b": 1}, c.counts); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if c.files != 3 || c.bytes != 29 || c.identifiers != 7 {
		t.Errorf("%d files, %d bytes, %d identifiers; want 3, 29, 7", c.files, c.bytes, c.identifiers)
	}
}

func TestUnreadableFileIsNamed(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone.go")
	if err := newCounter().file(gone); err == nil || !strings.Contains(err.Error(), gone) {
		t.Errorf("%v; want an error that names %s", err, gone)
	}
}
