package transporttest_test

import (
	"testing"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/transporttest"
)

// TestReference: the suite passes on the simplest transport, plain and decorated.
func TestReference(t *testing.T) {
	seed := transporttest.Seed(t)
	for name, decorate := range map[string]func(transport.Provider) transport.Provider{
		"plain":      func(p transport.Provider) transport.Provider { return p },
		"HideMapper": transporttest.HideMapper,
		"Delaying":   func(p transport.Provider) transport.Provider { return transporttest.Delaying(p, seed) },
	} {
		t.Run(name, func(t *testing.T) {
			transporttest.Run(t, func(t testing.TB, size int) *transporttest.World {
				return transporttest.NewWorld(t, decorate(transporttest.NewReference()), size)
			})
		})
	}
	t.Run("watched", func(t *testing.T) {
		transporttest.RunWatched(t, func(t testing.TB, size int) *transporttest.World {
			return transporttest.NewWorld(t, transporttest.NewReference(), size, transporttest.Watching())
		})
	})
}
