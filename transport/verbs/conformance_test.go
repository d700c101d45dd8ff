package verbs

import (
	"testing"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/transporttest"
)

func suite(p transport.Provider, opts ...transporttest.Option) func(t testing.TB, size int) *transporttest.World {
	return func(t testing.TB, size int) *transporttest.World {
		return transporttest.NewWorld(t, p, size, opts...)
	}
}

func TestConformance(t *testing.T) {
	p := provider(t)
	t.Run("heap", func(t *testing.T) { transporttest.Run(t, suite(p)) })
	few := p
	few.buffers = 1
	t.Run("few buffers", func(t *testing.T) { transporttest.Run(t, suite(few)) })
	t.Run("watched with few buffers", func(t *testing.T) {
		if testing.Short() {
			t.Skip("takes long: a message a round trip")
		}
		transporttest.RunWatched(t, suite(few, transporttest.Watching()))
	})
	t.Run("watched", func(t *testing.T) { transporttest.RunWatched(t, suite(p, transporttest.Watching())) })
	t.Run("Delaying", func(t *testing.T) {
		transporttest.Run(t, suite(transporttest.Delaying(p, transporttest.Seed(t))))
	})
}
