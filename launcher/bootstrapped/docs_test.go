package bootstrapped

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What docs/bootstrap.md shows is run, where there is a process manager.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/bootstrap.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(goRoot(t), "src", "strings"), filepath.Join(dir, "src")); err != nil {
		t.Fatal(err)
	}
	found := 0
	for line := range strings.Lines(string(text)) {
		command, is := strings.CutPrefix(strings.TrimSpace(line), "$ ")
		if !is {
			continue
		}
		found++
		t.Run(strings.Fields(command)[0], func(t *testing.T) {
			m := manager{"documented", shell(dir, command), nil}
			if got := m.run(t, 0, nil); got.code != 0 || !strings.Contains(got.stdout, "\nverified") {
				t.Errorf("%s: %s", command, got)
			}
		})
	}
	if found < 2 {
		t.Errorf("%d commands", found)
	}
}

// shell runs a command in a directory, with this test's programs and the cluster that
// srun needs.
func shell(dir, command string) func(*testing.T, int, []string, ...string) *exec.Cmd {
	return func(t *testing.T, _ int, _ []string, _ ...string) *exec.Cmd {
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + filepath.Dir(binary(t, "wordcount")) + ":" + os.Getenv("PATH")}
		if program := strings.Fields(command)[0]; program == "srun" {
			cmd.Env = append(cmd.Env, slurm(t, 1, nil).Env...)
		} else {
			installed(t, program, "mpich")
		}
		return cmd
	}
}
