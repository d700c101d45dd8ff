package manifest

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/golaunch/golaunch/launcher/internal/stage/digest"
)

var goodNames = []string{"a", "a b", "data/x.bin", "..a", "a..", "...", "-rf", "naïve.txt", "日本/語", strings.Repeat("x", 255), "C:"}

var badNames = map[string]string{
	"": "empty", "/": "absolute", "/etc/passwd": "absolute", "//x": "absolute",
	"..": `component ".."`, "../x": `component ".."`, "a/../../x": `component ".."`, "a/..": `component ".."`,
	".": `component "."`, "./x": `component "."`, "a/./b": `component "."`,
	"a//b": "empty component", "a/": "empty component",
	"a\x00b": "seen", "a\nb": "seen", "\x1b[2J": "seen", "a\u202eb": "seen", "a\u200bb": "seen", "\u00ad": "seen",
	`a\b`: "backslash", `..\x`: "backslash", `C:\x`: "backslash",
	"\xff": "UTF-8", "a/\xc0\xae\xc0\xae/b": "UTF-8",
	strings.Repeat("x", 256):       "component longer",
	strings.Repeat("x/", 600):      "longer than 1024",
	strings.Repeat("x/", 16) + "x": "deeper",
}

func TestNames(t *testing.T) {
	for _, name := range goodNames {
		if err := CheckName(name); err != nil {
			t.Error(err)
		}
	}
	for name, why := range badNames {
		if err := CheckName(name); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%.60q: %v, want %s", name, err, why)
		}
	}
}

func blob(text string) Blob { return Blob{digest.Of([]byte(text)), int64(len(text))} }

func of(names ...string) Manifest {
	m := Manifest{Program: File{Name: "prog", Blob: blob("prog"), Exec: true}}
	for _, name := range names {
		m.Files = append(m.Files, File{Name: name, Blob: blob(name)})
	}
	return m
}

func TestCheck(t *testing.T) {
	if err := of(goodNames...).Check(); err != nil {
		t.Error(err)
	}
	for name := range badNames {
		if of(name).Check() == nil {
			t.Errorf("file %.60q is accepted", name)
		}
		bad := of()
		bad.Program.Name = name
		if bad.Check() == nil {
			t.Errorf("program %.60q is accepted", name)
		}
	}
	sizes := of("x", "y")
	sizes.Files[1].Blob = Blob{sizes.Files[0].Sum, 7}
	deep, large, negative, nothing := of(), of("x", "y", "z", "w"), of("x"), of("x")
	deep.Program.Name = "a/b"
	for i := range large.Files {
		large.Files[i].Size = MaxBlob
	}
	negative.Files[0].Size = -1
	nothing.Files[0].Sum = digest.Sum{}
	for why, m := range map[string]Manifest{
		"one name":           of("a/b", "a/b"),
		`"A/b" have one`:     of("a/b", "A/b"),
		"have one name":      of("straſe", "STRASE"),
		"which is a file":    of("a", "a/b"),
		`in "A", which is`:   of("a/b/c", "x", "A"),
		"7 bytes":            sizes,
		"more than one comp": deep,
		"bytes: at most":     large,
		"-1 bytes":           negative,
		"without a sum":      nothing,
		"257 files":          of(slices.Repeat([]string{"x"}, 257)...),
	} {
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, want %s", err, why)
		}
	}
}

func TestBlobsAreNamedOnce(t *testing.T) {
	m := of("a", "b", "c")
	m.Files[1].Blob = m.Program.Blob
	m.Files[2].Blob = m.Files[0].Blob
	if d := cmp.Diff([]Blob{m.Program.Blob, m.Files[0].Blob}, m.Blobs()); d != "" {
		t.Error(d)
	}
}

func TestSplitFlag(t *testing.T) {
	for value, want := range map[string][2]string{
		"x": {"x", "x"}, "/a/b.txt": {"/a/b.txt", "b.txt"}, "../x": {"../x", "x"},
		"x:y": {"x", "y"}, "/a/b:c/d": {"/a/b", "c/d"}, "a:b:c": {"a:b", "c"},
	} {
		source, name, err := SplitFlag(value)
		if err != nil || [2]string{source, name} != want {
			t.Errorf("%s: %q %q %v", value, source, name, err)
		}
	}
	for _, bad := range []string{"", ":", ":x", "x:", "x:../y", "x:/y", "a/", "..", "/", `a\b`, "x:a:/b"} {
		if source, name, err := SplitFlag(bad); err == nil {
			t.Errorf("%q: %q %q", bad, source, name)
		}
	}
}

func write(t *testing.T, path, text string, mode fs.FileMode) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	prog, data := write(t, filepath.Join(dir, "prog"), "prog", 0o755), write(t, filepath.Join(dir, "x"), "data", 0o644)
	all, err := Open(prog, []string{data, data + ":sub/y"})
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	want := Manifest{
		Program: File{Name: "prog", Blob: blob("prog"), Exec: true},
		Files:   []File{{Name: "x", Blob: blob("data")}, {Name: "sub/y", Blob: blob("data")}},
	}
	if d := cmp.Diff(want, all.Manifest()); d != "" {
		t.Error(d)
	}
	if err := all[1].Unchanged(); err != nil {
		t.Error(err)
	}
	write(t, data, "longer", 0o644)
	if err := all[1].Unchanged(); err == nil || !strings.Contains(err.Error(), data) {
		t.Error("a change was not seen:", err)
	}
	for _, bad := range [][]string{{dir}, {data + ":.."}, {"/dev/null:x"}, {dir + "/missing"}, {data, data}} {
		if all, err := Open(prog, bad); err == nil {
			t.Errorf("%v is opened: %v", bad, all)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, m := range []Manifest{of(), of("a", "b/c"), of("a", "A")} {
		b, err := json.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(append(b, '{'))
	}
	f.Add([]byte(`{"program":{"name":"../x","sum":"00","size":-1}}`))
	f.Add([]byte(`{"more":1}`))
	root := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Decode(b)
		if err != nil {
			return
		}
		for _, file := range append(m.Files, m.Program) {
			at := filepath.Join(root, file.Name)
			if !strings.HasPrefix(at, root+"/") || !filepath.IsLocal(file.Name) || at != root+"/"+file.Name {
				t.Fatalf("%q leads to %q", file.Name, at)
			}
		}
		out, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Decode(out)
		if d := cmp.Diff(m, again); err != nil || d != "" && len(m.Files) > 0 {
			t.Fatal(err, d)
		}
	})
}
