// Package benchtest is for the tests of benchmark programs.
package benchtest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/golaunch/golaunch/apps/internal/bench"
)

// Results decodes what a benchmark printed with --json. Each line has a time, which is
// checked and taken away.
func Results(t testing.TB, text string) (got []bench.Result) {
	t.Helper()
	for line := range strings.Lines(text) {
		var r bench.Result
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if r.US <= 0 {
			t.Errorf("%q: no time", line)
		}
		r.US = 0
		got = append(got, r)
	}
	return got
}
