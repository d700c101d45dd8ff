package bootstrapped

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// This binary is the test, and the ranks whose role stands in the environment.
const envRole = "GOLAUNCH_TEST_ROLE"

// deadline is how long a job may take.
const deadline = 120 * time.Second

func TestMain(m *testing.M) {
	if role := os.Getenv(envRole); role != "" {
		if err := roles[role](); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(program{m})
}

// A program ends what it has started, and removes what it has built.
type program struct{ *testing.M }

func (p program) Run() int {
	code := p.M.Run()
	err := cluster.stop()
	if built.dir != "" {
		err = errors.Join(err, os.RemoveAll(built.dir))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// built is where the binaries are.
var built struct {
	sync.Once
	dir string
	err error
}

// The rooms whose tests run as ranks, and what else is built.
var (
	rooms    = []string{"runtime/world", "window", "collectives"}
	programs = []string{"launcher/golaunch", "apps/wordcount"}
)

// binary returns a program, or the tests of a room ("window.test").
func binary(t *testing.T, name string) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("bootstrapped: the go command is needed to build the ranks' programs:", err)
	}
	built.Do(func() { built.err = build() })
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, name)
}

func build() (err error) {
	if built.dir, err = os.MkdirTemp("", fmt.Sprintf("golaunch-bootstrapped-%d-", os.Getpid())); err != nil {
		return err
	}
	if err := os.Chmod(built.dir, 0o755); err != nil {
		return err
	}
	if err := goCommand("build", programs); err != nil {
		return err
	}
	return goCommand("test", rooms, "-c")
}

func goCommand(verb string, packages []string, flags ...string) error {
	args := slices.Concat([]string{verb}, flags, []string{"-o", built.dir + "/"})
	for _, p := range packages {
		args = append(args, "./"+p)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = "../.." // the module's root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// self is this binary.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// installed returns the path of a program, or skips the test.
func installed(t *testing.T, name, pkg string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("bootstrapped: %s (Debian: %s) is not installed", name, pkg)
	}
	return path
}
