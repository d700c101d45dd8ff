package world_test

import (
	"os"
	"testing"

	"github.com/golaunch/golaunch/runtime/worldtest"
)

// TestMain: the tests of what ranks see also run as ranks of golaunch.
func TestMain(m *testing.M) { os.Exit(worldtest.Main(m).Run()) }
