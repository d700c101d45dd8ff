package crosshost

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golaunch/golaunch/launcher/internal/built"
)

// This binary is the test, and the ranks whose role stands in the environment.
const envRole = "GOLAUNCH_TEST_ROLE"

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

// A program removes what it has built.
type program struct{ *testing.M }

func (p program) Run() int {
	code := p.M.Run()
	if err := binaries.Remove(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return code
}

// self is this binary, as a rank in a role.
func self(t *testing.T, role string) []string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"-x", envRole + "=" + role, path}
}

// What runs on the hosts: the tests of some rooms, and programs.
var binaries = built.Binaries{
	Rooms:    []string{"runtime/worldtest", "runtime/world", "window", "collectives"},
	Programs: []string{"launcher/golaunch", "apps/wordcount", "apps/heat"},
}

// binary returns a program, or the tests of a room ("window.test").
func binary(t *testing.T, name string) string {
	t.Helper()
	return binaries.Path(t, name)
}

// deadline is how long a job may take, unless a test says otherwise.
const deadline = 60 * time.Second
