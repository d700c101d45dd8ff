package shm

import (
	"sync"
	"testing"

	"golang.org/x/sys/unix"

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
	t.Run("memfd", func(t *testing.T) {
		transporttest.Run(t, func(t testing.TB, size int) *transporttest.World {
			return transporttest.NewWorld(t, Provider{}, size, transporttest.WithMemory(mapped(t)))
		})
	})
	t.Run("smallest ring", func(t *testing.T) {
		transporttest.Run(t, suite(Provider{ringBytes: ringMinBytes + transport.MinCredit*recordBytes(transport.MaxMessage)}))
	})
	t.Run("HideMapper", func(t *testing.T) {
		transporttest.Run(t, suite(transporttest.HideMapper(Provider{})))
	})
	t.Run("Delaying", func(t *testing.T) {
		seed := transporttest.Seed(t)
		transporttest.Run(t, suite(transporttest.Delaying(Provider{}, seed)))
	})
}

// mapped returns a source of shared mappings that are gone when the endpoints are
// closed: an access after Close has returned ends the test with a fault.
func mapped(t testing.TB) func(n int) []byte {
	var mu sync.Mutex
	var all [][]byte
	t.Cleanup(func() { // registered before the endpoints' Close, so it runs after
		for _, m := range all {
			check(t, unix.Munmap(m))
		}
	})
	return func(n int) []byte {
		f := newSegment(t, n)
		m, err := unix.Mmap(int(f.Fd()), 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		check(t, err)
		check(t, f.Close())
		mu.Lock()
		defer mu.Unlock()
		all = append(all, m)
		return m
	}
}
