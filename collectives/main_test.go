package collectives

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/golaunch/golaunch/runtime/worldtest"
)

// No operation leaves a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(worldtest.Main(m)) }
