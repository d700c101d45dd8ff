package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// writeTree makes files below a new directory: name and content.
func writeTree(t *testing.T, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// listed returns what list finds, relative to root.
func listed(t *testing.T, root string, roots ...string) []string {
	t.Helper()
	files, err := list(t.Context(), roots)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		name, err := filepath.Rel(root, f.path)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

func TestList(t *testing.T) {
	root := writeTree(t, map[string]string{
		"small.go": "package p", "sub/large.go": "package p // more than the others",
		"sub/.hidden/a.go": "package h", "notes.txt": "no", "go": "no", "b.go.orig": "no",
	})
	if err := os.Symlink(filepath.Join(root, "sub"), filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "dir.go"), 0o755); err != nil {
		t.Fatal(err)
	}
	all := []string{"sub/large.go", "small.go", "sub/.hidden/a.go"}
	for _, tt := range []struct {
		name  string
		roots []string
		want  []string
	}{
		{"largest first, then by path", []string{root}, all},
		{"each once", []string{root, root, filepath.Join(root, "sub") + "/."}, all},
		{"a root that is a link", []string{filepath.Join(root, "link")}, []string{"sub/large.go", "sub/.hidden/a.go"}},
		{"a root that is a file", []string{filepath.Join(root, "small.go")}, []string{"small.go"}},
	} {
		if diff := cmp.Diff(tt.want, listed(t, root, tt.roots...)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, diff)
		}
	}
}

func TestListRefuses(t *testing.T) {
	empty := t.TempDir()
	for _, tt := range []struct{ root, want string }{
		{empty, "no .go files below " + empty},
		{filepath.Join(empty, "gone"), "gone"},
	} {
		if _, err := list(t.Context(), []string{tt.root}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v; want an error with %q", tt.root, err, tt.want)
		}
	}
}

func TestListDefault(t *testing.T) {
	root, err := goSource(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "fmt", "print.go")); err != nil {
		t.Errorf("%s is no Go source tree: %v", root, err)
	}
	t.Setenv("PATH", "")
	if _, err := list(context.Background(), nil); err == nil || !strings.Contains(err.Error(), "no DIR given") {
		t.Errorf("without a go command: %v", err)
	}
}

func TestPathsTravel(t *testing.T) {
	want := []source{{path: "/a b.go"}, {path: "/ü\n.go"}, {path: "/\xff.go"}}
	if diff := cmp.Diff(want, splitPaths(joinPaths(want)), cmp.AllowUnexported(source{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
