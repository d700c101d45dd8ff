// Package built builds the module's own programs for tests that start them.
package built

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Binaries are built when a test asks for the first one. The packages are named by
// their paths from the module's root, two levels above the tests' directory.
type Binaries struct {
	Programs []string // commands
	Rooms    []string // packages whose tests are wanted, as "window.test"

	once sync.Once
	dir  string
	err  error
}

// Path returns where a binary is. Every user may run it. The test is skipped where
// there is no go command.
func (b *Binaries) Path(t testing.TB, name string) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is needed to build what the tests start:", err)
	}
	b.once.Do(func() { b.err = b.build() })
	if b.err != nil {
		t.Fatal(b.err)
	}
	return filepath.Join(b.dir, name)
}

// Remove removes what was built. It is called when no test runs any more.
func (b *Binaries) Remove() error {
	if b.dir == "" {
		return nil
	}
	return os.RemoveAll(b.dir)
}

func (b *Binaries) build() (err error) {
	if b.dir, err = os.MkdirTemp("", fmt.Sprintf("golaunch-built-%d-", os.Getpid())); err != nil {
		return err
	}
	if err := os.Chmod(b.dir, 0o755); err != nil {
		return err
	}
	if err := b.run("build", b.Programs); err != nil || len(b.Rooms) == 0 {
		return err
	}
	return b.run("test", b.Rooms, "-c")
}

func (b *Binaries) run(verb string, packages []string, flags ...string) error {
	args := slices.Concat([]string{verb}, flags, []string{"-o", b.dir + "/"})
	for _, p := range packages {
		args = append(args, "./"+p)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}
