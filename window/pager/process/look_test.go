package process

import "testing"

// What the loop does, by what happens: it looks from the moment when a rank waits or something was
// heard until lookTime after the last of that, and not while others want its core.
func TestLookout(t *testing.T) {
	const look, crowded = int64(lookTime), int64(crowdedTime)
	type round struct {
		at                   int64
		waits, events, heard bool
		until                int64
	}
	for name, rounds := range map[string][]round{
		"nothing happens":             {{at: 1}, {at: 2 * look}},
		"events that wait for nobody": {{at: 1, events: true}},
		"a rank waits, and no more":   {{1, true, true, false, 1 + look}, {9, false, false, false, 9 + look}, {9 + look, false, false, false, 0}},
		"a rank waits for long":       {{1, true, true, false, 1 + look}, {look, true, false, false, 1 + look}, {1 + look, true, false, false, 0}, {3 * look, true, false, false, 0}},
		"another one waits as well":   {{1, true, true, false, 1 + look}, {5, true, true, false, 5 + look}},
		"another host asks":           {{1, false, false, true, 1 + look}, {2, false, false, false, 1 + look}, {look, false, true, true, 2 * look}},
		"and while a rank waits":      {{1, true, false, true, 1 + look}},
	} {
		var l lookout
		for i, r := range rounds {
			l.heard = r.heard
			l.goOn(r.at, r.waits, r.events)
			if l.until != r.until {
				t.Errorf("%s: in round %d it looks until %d, want %d", name, i, l.until, r.until)
			}
		}
	}
	l := lookout{crowded: [2]int64{crowded, 0}}
	for _, r := range []round{
		{1, false, false, true, 0}, {2, true, true, false, 2 + look}, // who waits leaves its core
		{3, false, false, false, 0}, {crowded, false, false, true, crowded + look},
	} {
		l.heard = r.heard
		if l.goOn(r.at, r.waits, r.events); l.until != r.until {
			t.Errorf("beside others, at %d: it looks until %d, want %d", r.at, l.until, r.until)
		}
	}
}

// A core is others' from the second of two long looks on that were near each other, and from the first
// one after such a time.
func TestCrowded(t *testing.T) {
	const long, near, crowded = int64(crowdTime), int64(nearTime), int64(crowdedTime)
	for name, c := range map[string]struct {
		looks [][2]int64 // from, to
		until int64
	}{
		"quick ones":     {looks: [][2]int64{{1, 2}, {2, long}, {long, long + 9}}},
		"one":            {looks: [][2]int64{{1, long + 1}}},
		"two far apart":  {looks: [][2]int64{{1, long + 1}, {near + 1, near + long + 1}}},
		"two":            {looks: [][2]int64{{1, long + 1}, {long + 1, long + 9}, {near - long, near}}, until: near + crowded},
		"one once again": {looks: [][2]int64{{1, long + 1}, {9, long + 9}, {long + crowded, 2*long + crowded}}, until: 2*long + 2*crowded},
	} {
		var l lookout
		for _, look := range c.looks {
			l.took(look[0], look[1])
		}
		if l.crowded != [2]int64{c.until, 0} {
			t.Errorf("%s: crowded until %d, want %d while no rank waits", name, l.crowded, c.until)
		}
	}
}
