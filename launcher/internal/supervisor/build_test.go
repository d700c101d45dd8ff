package supervisor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golaunch/golaunch/launcher/internal/control"
)

// module writes a Go module of one file and returns its directory.
func module(t *testing.T, source string) string {
	dir := filepath.Join(t.TempDir(), "prog")
	os.Mkdir(dir, 0o700)
	os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/prog\ngo 1.26\n"), 0o600)
	os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o600)
	return dir
}

func TestBuild(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, source, complaint string }{
		{"good", "package main\nfunc main() { print(`built`) }\n", ""},
		{"no main package", "package lib\n", "no main packages to build"},
		{"does not compile", "package main\nfunc main() { x := 1 }\n", "declared and not used"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			scratch := filepath.Join(t.TempDir(), "scratch")
			f := newFront(t)
			dir := module(t, tt.source)
			f.conn.Send(&control.Build{Scratch: scratch, Dir: dir, Env: os.Environ()})
			built := expect[*control.Built](f)
			if built.Dir != dir || !strings.Contains(built.Output, tt.complaint) || (built.Path == "") != (tt.complaint != "") {
				t.Fatalf("%+v", built)
			}
			if tt.complaint == "" {
				f.conn.Send(&control.Start{Size: 1, Stdin: control.NoRank,
					Programs: []control.Program{{Count: 1, Path: built.Path, Args: []string{"x"}}}})
				f.output(0, control.Stderr, "built")
				expect[*control.Exited](f)
			}
			f.conn.Send(&control.Finish{})
			expect[*control.Done](f)
			f.exit()
			if _, err := os.Stat(scratch); !os.IsNotExist(err) {
				t.Errorf("the scratch directory: %v", err)
			}
		})
	}
}

func TestBuildIsKilled(t *testing.T) {
	t.Parallel()
	scratch := filepath.Join(t.TempDir(), "scratch")
	f := newFront(t)
	f.conn.Send(&control.Build{Scratch: scratch, Dir: module(t, "package main\nfunc main() {}\n"), Env: os.Environ()})
	f.conn.Send(&control.Kill{})
	f.conn.Send(&control.Finish{})
	expect[*control.Done](f)
	f.exit()
	if _, err := os.Stat(scratch); !os.IsNotExist(err) {
		t.Errorf("the scratch directory: %v", err)
	}
}
