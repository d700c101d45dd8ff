//go:build cgo && linux

package verbs

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs one rank of a test with two processes when the environment says so.
func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		run := roleMain
		if role == lockedRole {
			run = func(string) error { return openLocked() }
		}
		if err := run(role); err != nil {
			fmt.Fprintln(os.Stderr, "the other rank:", err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}
