package report

import (
	"fmt"
	"strings"

	"github.com/golaunch/golaunch/apps/internal/bench/figures"
)

// A place is where in a comparison a record was made.
type place struct {
	round int
	name  string
}

// A turn is what the contenders had of the cores in one place.
type turn struct {
	place
	distance Distance
}

// turns returns those around which the distance was measured, in their order.
// Records from before there was such a thing have none.
func turns(records []Record) []turn {
	var all []turn
	seen := map[place]bool{}
	for _, r := range records {
		at := place{r.Round, r.Case}
		if r.Distance.Measured() && !seen[at] {
			seen[at] = true
			all = append(all, turn{at, r.Distance})
		}
	}
	return all
}

// distances says how far apart the cores were, and where the contenders did not
// have them alike. It is empty when nobody measured it.
func distances(records []Record) string {
	all := turns(records)
	if len(all) == 0 {
		return ""
	}
	var whole Distance
	var moved []string
	for _, t := range all {
		whole = whole.With(t.distance.Least).With(t.distance.Most)
		if !t.distance.Agrees() {
			moved = append(moved, fmt.Sprintf("%s in round %d (%v)", t.name, t.round, t.distance))
		}
	}
	text := fmt.Sprintf("A cache line's round trip between two cores took %v; in %d of %s of a case in a round all contenders had it the same within a factor of %v.",
		whole, len(all)-len(moved), figures.Plural(len(all), "turn"), agreement)
	if len(moved) > 0 {
		text += " **Not so, in any try:** " + strings.Join(moved, "; ") + "."
	}
	return text + "\n"
}
