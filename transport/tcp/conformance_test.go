package tcp

import (
	"testing"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/transporttest"
)

// loopback is a provider for tests on one machine.
func loopback() Provider {
	return Provider{Secret: make([]byte, 32), Job: "test", Version: "test 1", Loopback: true}
}

func suite(p transport.Provider, opts ...transporttest.Option) func(t testing.TB, size int) *transporttest.World {
	return func(t testing.TB, size int) *transporttest.World {
		return transporttest.NewWorld(t, p, size, opts...)
	}
}

func TestConformance(t *testing.T) {
	four, six, pieces, encrypted := loopback(), loopback(), loopback(), loopback()
	encrypted.Encrypt = true
	four.family, six.family = 4, 6
	pieces.pieceBytes = 1000 // of 5 MiB: every operation is long
	t.Run("IPv4", func(t *testing.T) { transporttest.Run(t, suite(four)) })
	t.Run("IPv6", func(t *testing.T) { transporttest.Run(t, suite(six)) })
	t.Run("small pieces", func(t *testing.T) { transporttest.Run(t, suite(pieces)) })
	t.Run("encrypted", func(t *testing.T) {
		transporttest.Run(t, suite(encrypted, transporttest.Allocates("crypto/tls allocates for each record it reads")))
	})
	t.Run("watched", func(t *testing.T) { transporttest.RunWatched(t, suite(loopback(), transporttest.Watching())) })
	t.Run("watched, encrypted", func(t *testing.T) {
		transporttest.RunWatched(t, suite(encrypted, transporttest.Watching()))
	})
	t.Run("Delaying", func(t *testing.T) {
		transporttest.Run(t, suite(transporttest.Delaying(loopback(), transporttest.Seed(t))))
	})
}
