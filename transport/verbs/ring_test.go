//go:build cgo && linux

package verbs

import (
	"math/rand/v2"
	"testing"

	"github.com/golaunch/golaunch/transport/transporttest"
)

// TestRing: against a slice, while it grows.
func TestRing(t *testing.T) {
	random := rand.New(rand.NewPCG(transporttest.Seed(t), 0))
	var r ring[int]
	var model []int
	for k := range 10_000 {
		switch {
		case random.IntN(100) == 0:
			r.reserve(1 + random.IntN(3))
		case random.IntN(2) == 0 && r.count < len(r.items):
			r.push(k)
			model = append(model, k)
		case len(model) > 0:
			if got := r.pop(); got != model[0] {
				t.Fatalf("step %d: %d instead of %d", k, got, model[0])
			}
			model = model[1:]
		}
		if r.count != len(model) {
			t.Fatalf("step %d: %d entries instead of %d", k, r.count, len(model))
		}
	}
}

func TestWorkIDSurvives(t *testing.T) {
	id := newWorkID(ofCredit, maxConnections-1, 1<<40+5)
	if id.kind() != ofCredit || id.connection() != maxConnections-1 || id.number() != 5 {
		t.Errorf("%#x has kind %d, connection %d, number %d", id, id.kind(), id.connection(), id.number())
	}
}
