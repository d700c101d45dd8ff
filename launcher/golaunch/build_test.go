package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// module writes a Go module of one file and returns its directory.
func module(t *testing.T, source string) string {
	dir := filepath.Join(t.TempDir(), "prog")
	os.Mkdir(dir, 0o700)
	os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/prog\ngo 1.26\n"), 0o600)
	os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o600)
	return dir
}

func TestGoPackages(t *testing.T) {
	t.Parallel()
	good := module(t, "package main\nimport (\"fmt\"; \"os\")\nfunc main() { fmt.Println(os.Args[1:]) }\n")
	bad := module(t, "package main\nfunc main() { x := 1 }\n")
	lib := module(t, "package lib\n")
	for _, tt := range []struct {
		name string
		args []string
		want result
	}{
		{"package", []string{"-n", "2", good, "a", "b"}, result{0, "[a b]\n[a b]\n", ""}},
		{"twice the same", []string{good, "a", ":", good, "a"}, result{0, "[a]\n[a]\n", ""}},
		{"does not compile", []string{"-n", "2", bad}, result{1, "", "does not build:\n# example.com/prog\n./main.go:2:15: declared and not used: x\n"}},
		{"no program", []string{lib}, result{1, "", "no main packages to build"}},
		{"no go command", []string{"-n", "1", good}, result{1, "", "needs the go command"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			temp := t.TempDir()
			launchWith(t, func(cmd *exec.Cmd) {
				cmd.Env = append(cmd.Env, "TMPDIR="+temp)
				if strings.HasPrefix(tt.name, "no go") {
					cmd.Env = append(cmd.Env, "PATH=/nowhere")
				}
			}, tt.args...).expect(t, tt.want)
			if left, _ := os.ReadDir(temp); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestPackageInTheWorkingDirectory(t *testing.T) {
	t.Parallel()
	dir := module(t, "package main\nfunc main() { print(`here`) }\n")
	launchWith(t, func(cmd *exec.Cmd) { cmd.Dir = dir }, ".").expect(t, result{0, "", "here"})
}
