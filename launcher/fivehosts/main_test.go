package fivehosts

import (
	"flag"
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
	flag.Parse()
	flag.Set("test.parallel", "4") // they wait more than they compute
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
func self(t *testing.T, role string, args ...string) []string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{"-x", envRole + "=" + role, path}, args...)
}

var binaries = built.Binaries{Programs: []string{"launcher/golaunch"}}

// golaunch returns the path of golaunch, which it builds.
func golaunch(t *testing.T) string {
	t.Helper()
	return binaries.Path(t, "golaunch")
}

// deadline is how long anything may take that must happen at all.
const deadline = 60 * time.Second

// within checks how long something has taken that was promised to take at most so
// long on a machine that does nothing else.
func within(t *testing.T, what string, took, promised time.Duration) {
	t.Helper()
	t.Logf("%s: %v, promised %v", what, took.Round(time.Millisecond), promised)
	bound := 10 * promised
	if os.Getenv("GOLAUNCH_FIGURES") != "" {
		bound = promised
	}
	if took > bound {
		t.Errorf("%s: %v, want at most %v", what, took, bound)
	}
}
