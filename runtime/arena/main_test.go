package arena

import (
	"os"
	"testing"
)

// childEnv names what this binary does instead of testing.
const childEnv = "ARENA_TEST_CHILD"

func TestMain(m *testing.M) {
	child := map[string]func() error{"peer": peerChild, "limited": limitedChild, "placed": placedChild}
	if run := child[os.Getenv(childEnv)]; run != nil {
		if err := run(); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
