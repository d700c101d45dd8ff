package crosshost

import (
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/netns"
)

// The rooms' tests again and again, in every kind of network, and with links that are
// interrupted, for moments that make no failure.
func TestSoak(t *testing.T) {
	if os.Getenv("GOLAUNCH_SOAK") == "" {
		t.Skip("GOLAUNCH_SOAK=1 runs it: several minutes")
	}
	for name, kind := range map[string]struct {
		options netns.Options
		flags   []string
		shaken  bool
	}{
		"plain":     {},
		"decoys":    {options: netns.Options{Decoys: true}},
		"IPv6":      {options: netns.Options{NoIPv4: true}},
		"encrypted": {flags: []string{"--encrypt"}},
		"shaken":    {shaken: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, 3, kind.options)
			c.limit = 5 * time.Minute
			if kind.shaken {
				defer c.shake()()
			}
			for range 3 {
				for room, least := range bodies {
					c.conform(room, 3, least, kind.flags...)
					c.conform(room, 6, least, kind.flags...)
				}
			}
		})
	}
}

// shake isolates one host after the other for a moment, until stop is called.
func (c *cluster) shake() (stop func()) {
	end := make(chan struct{})
	var shaking sync.WaitGroup
	shaking.Go(func() {
		for i := 0; ; i++ {
			h := c.Hosts[i%len(c.Hosts)]
			for _, act := range []struct {
				do   func() error
				then int // at most so many milliseconds
			}{{h.Isolate, 50}, {h.Rejoin, 1000}} {
				if err := act.do(); err != nil {
					c.t.Error(err)
				}
				select {
				case <-time.After(time.Duration(rand.IntN(act.then)) * time.Millisecond):
				case <-end:
					if err := h.Rejoin(); err != nil {
						c.t.Error(err)
					}
					return
				}
			}
		}
	})
	return func() { close(end); shaking.Wait() }
}
