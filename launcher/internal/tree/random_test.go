package tree

import (
	"math/rand/v2"
	"os"
	"testing"
)

// Random schedules of trees that are too large to walk through.
func TestRandomSchedules(t *testing.T) {
	seeds := 1000
	if os.Getenv("GOLAUNCH_SOAK") != "" {
		seeds = 100_000
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(uint64(seed), 4))
		w := randomWorld(r)
		var done []string
		for {
			list, breaking := w.steps()
			if len(breaking) > 0 && r.IntN(20) == 0 {
				list = breaking
			}
			if len(list) == 0 {
				break
			}
			s := list[r.IntN(len(list))]
			done = append(done, s.name)
			if err := s.do(w); err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, lines(done))
			}
		}
		if err := w.settled(); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, lines(done))
		}
	}
}

func lines(done []string) (text string) {
	for _, s := range done {
		text += "  " + s + "\n"
	}
	return text
}

func randomWorld(r *rand.Rand) *world {
	hosts := 1 + r.IntN(9)
	places := Topology(hosts, 1+r.IntN(3))
	var script []order
	for range r.IntN(30) {
		script = append(script, order{r.IntN(2*hosts) - hosts})
	}
	for i := range script {
		script[i].to = max(script[i].to, -1)
	}
	w := newWorld(places, r.IntN(8), script...)
	w.breaks = r.IntN(8)
	return w
}
