package shm

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
	t.Run("heap", func(t *testing.T) { transporttest.Run(t, suite(Provider{})) })
	t.Run("HideMapper", func(t *testing.T) {
		transporttest.Run(t, suite(transporttest.HideMapper(Provider{})))
	})
	t.Run("Delaying", func(t *testing.T) {
		seed := transporttest.Seed(t)
		transporttest.Run(t, suite(transporttest.Delaying(Provider{}, seed)))
	})
}
