package eviction

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChoose(t *testing.T) {
	three := []Entry{{"a", 10, 3, false}, {"b", 20, 1, false}, {"c", 30, 2, false}}
	held := []Entry{{"a", 10, 3, false}, {"b", 20, 1, true}, {"c", 30, 2, false}}
	for name, c := range map[string]struct {
		entries     []Entry
		limit, need int64
		want        string
		full        bool
	}{
		"room enough":         {three, 100, 40, "", false},
		"the oldest":          {three, 100, 41, "b", false},
		"two":                 {three, 100, 61, "bc", false},
		"all":                 {three, 100, 100, "bca", false},
		"too much":            {three, 100, 101, "", true},
		"held stays":          {held, 100, 41, "c", false},
		"too much is held":    {held, 100, 81, "", true},
		"all but what's held": {held, 100, 80, "ca", false},
		"limit has shrunk":    {three, 35, 0, "bc", false},
		"the same age":        {[]Entry{{"z", 1, 0, false}, {"y", 1, 0, false}}, 1, 0, "y", false},
		"nothing there":       {nil, 5, 5, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			victims, ok := Choose(c.entries, c.limit, c.need)
			var got string
			for _, v := range victims {
				got += v.Name
			}
			if got != c.want || ok == c.full {
				t.Errorf("%q %v, want %q %v", got, ok, c.want, !c.full)
			}
		})
	}
}

// What goes is never held, is older than whatever stays, and not one too many.
func TestChooseAtRandom(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		entries := make([]Entry, r.IntN(8))
		var total, held int64
		for i := range entries {
			entries[i] = Entry{string(rune('a' + i)), r.Int64N(20), r.Int64N(6), r.IntN(3) == 0}
			total += entries[i].Size
			if entries[i].Held {
				held += entries[i].Size
			}
		}
		limit, need := r.Int64N(100), r.Int64N(50)
		victims, ok := Choose(entries, limit, need)
		if ok != (held+need <= limit) {
			t.Fatalf("seed %d: ok is %v", seed, ok)
		}
		gone := map[string]bool{}
		left := total
		for i, v := range victims {
			if v.Held || i < len(victims)-1 && victims[i+1].Used < v.Used {
				t.Fatalf("seed %d: %+v goes as number %d", seed, v, i)
			}
			if left+need <= limit {
				t.Fatalf("seed %d: %+v need not go", seed, v)
			}
			left -= v.Size
			gone[v.Name] = true
		}
		for _, e := range entries {
			if n := len(victims); !gone[e.Name] && !e.Held && n > 0 && e.Used < victims[n-1].Used {
				t.Fatalf("seed %d: %+v stays:%s", seed, e, cmp.Diff(nil, victims))
			}
		}
		if ok && left+need > limit {
			t.Fatalf("seed %d: %d bytes stay of %d", seed, left, limit)
		}
	}
}
