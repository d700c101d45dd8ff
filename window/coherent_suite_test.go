package window_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/golaunch/golaunch/runtime/worldtest"
)

// Coherent windows do all that others do: every test of this package, with every window
// coherent, also where the pager has to carry operations out.
func TestAllWindowsCoherent(t *testing.T) {
	worldtest.Alone(t)
	if coherent() {
		t.Skip("this is that run")
	}
	for how, tests := range map[string]string{
		"watched":   "-test.skip=^Fuzz",
		"unwatched": "-test.run=^(TestRandomPrograms|TestKilledRank|TestCoherentPutGet|TestUnmapped)$/^((int16|float64|complex128)_under_Lock|.*ranks_on.*)$", // without memory of their own
		"limited":   "-test.run=^(TestRandomPrograms|TestStressedGoroutines|TestOverlapAtSelf)$",
		"placed":    "-test.run=^(TestRandomPrograms|TestStressedGoroutines)$",
	} {
		t.Run(how, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.timeout=3m", tests)
			cmd.Env = append(os.Environ(), coherentVariable+"="+how)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, tail(string(out), 60))
			}
		})
	}
}

// tail is the last lines of a text.
func tail(text string, lines int) string {
	all := strings.Split(text, "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
