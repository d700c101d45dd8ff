package bootstrapped

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golaunch/golaunch/launcher/internal/built"
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
	if err := errors.Join(cluster.stop(), binaries.Remove()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// What runs on the hosts: the tests of some rooms, and programs.
var binaries = built.Binaries{
	Rooms:    []string{"runtime/world", "window", "collectives"},
	Programs: []string{"launcher/golaunch", "apps/wordcount"},
}

// binary returns a program, or the tests of a room ("window.test").
func binary(t *testing.T, name string) string {
	t.Helper()
	return binaries.Path(t, name)
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
