package tcp

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs one rank of a two-process test when the environment says so.
func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(childMain(role))
	}
	goleak.VerifyTestMain(m)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
