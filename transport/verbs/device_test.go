package verbs

import (
	"context"
	"os"
	"testing"

	"github.com/golaunch/golaunch/transport"
)

// requireVariable: a test that finds no device fails instead of being skipped.
const requireVariable = "GOLAUNCH_VERBS_REQUIRED"

// provider is one for tests on one host. The test is skipped where there is no device.
func provider(t testing.TB) Provider {
	t.Helper()
	p := Provider{Secret: make([]byte, 32), Job: "test", Version: "test 1", Loopback: true}
	e, err := p.Open(alone())
	switch {
	case err == nil:
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	case os.Getenv(requireVariable) != "":
		t.Fatal(err)
	default:
		t.Skip("make verbs-test runs this in a guest: ", err)
	}
	return p
}

// alone is the configuration of a job of one rank.
func alone() transport.Config {
	return transport.Config{
		Size: 1, Ring: func(int) {},
		Wait: func(context.Context, int, func() bool) error { return nil },
	}
}
