package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golaunch/golaunch/launcher"
)

func TestKeygen(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "key")
	launch(t, "keygen", file).expect(t, result{0, file + " has key ", ""})
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	launch(t, "keygen", file).expect(t, result{launcher.CodeUsage, "", "is not overwritten"})
	launch(t, "keygen", "--rotate", file).expect(t, result{0, "and behind it ", ""})
	after, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, old, _ := strings.Cut(string(before), "\n")
	if !strings.HasSuffix(string(after), old) || len(after) <= len(before) {
		t.Errorf("the old key has gone: %d lines", strings.Count(string(after), "\n"))
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestKeygenUsualFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "new", "key")
	cmd := golaunch(t, "keygen")
	cmd.Env = append(cmd.Environ(), "GOLAUNCH_KEY_FILE="+file)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), file) {
		t.Fatalf("%v: %s", err, out)
	}
	if info, err := os.Stat(filepath.Dir(file)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestKeygenMistakes(t *testing.T) {
	t.Parallel()
	launch(t, "keygen", "a", "b").expect(t, result{launcher.CodeUsage, "", "b: one file is enough"})
	launch(t, "keygen", "--rotat").expect(t, result{launcher.CodeUsage, "", "did you mean --rotate?"})
	launch(t, "keygen", "--rotate", "/not/there").expect(t, result{launcher.CodeUsage, "", "no such file"})
	launch(t, "keygen", "--help").expect(t, result{0, "golaunch keygen [FILE]", ""})
}
