package collectives

import (
	"testing"

	"go.uber.org/goleak"
)

// No operation leaves a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
