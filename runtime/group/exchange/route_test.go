package exchange

import (
	"fmt"
	"slices"
	"testing"
)

// Every host has every other one's parts at the end, got each once, and sent nothing
// that it had not; nobody sends more than radix-1 messages a step.
func TestRouteReachesAll(t *testing.T) {
	for hosts := 1; hosts <= 70; hosts++ {
		for radix := 2; radix <= 5; radix++ {
			if err := carryOut(hosts, radix); err != nil {
				t.Fatalf("%d hosts, radix %d: %v", hosts, radix, err)
			}
		}
	}
}

// carryOut has all hosts send what they can until they have sent everything.
func carryOut(hosts, radix int) error {
	type host struct {
		sends   []Send
		sources []Source
		told    []bool
		has     []bool
	}
	all := make([]host, hosts)
	for h := range all {
		all[h].sends, all[h].sources = Route(h, hosts, radix)
		all[h].told = make([]bool, len(all[h].sources))
		all[h].has = make([]bool, hosts)
		all[h].has[h] = true
		if n := len(all[h].sources); n > (radix-1)*steps(hosts, radix) {
			return fmt.Errorf("host %d has %d sources", h, n)
		}
	}
	for moved := true; moved; {
		moved = false
		for h := range all {
			if len(all[h].sends) == 0 || slices.Contains(all[h].told[:all[h].sends[0].After], false) {
				continue
			}
			s := all[h].sends[0]
			all[h].sends, moved = all[h].sends[1:], true
			for _, to := range s.To {
				i := slices.Index(all[to].sources, Source{h, s.Hosts})
				if i < 0 || all[to].told[i] {
					return fmt.Errorf("host %d hears from %d, for %d hosts, out of turn", to, h, s.Hosts)
				}
				all[to].told[i] = true
				for k := range s.Hosts {
					about := (h + k) % hosts
					if !all[h].has[about] || all[to].has[about] {
						return fmt.Errorf("host %d tells host %d about %d: it knows it: %v", h, to, about, all[h].has[about])
					}
					all[to].has[about] = true
				}
			}
		}
	}
	for h := range all {
		if len(all[h].sends) > 0 || slices.Contains(all[h].has, false) || slices.Contains(all[h].told, false) {
			return fmt.Errorf("host %d ends with %+v", h, all[h])
		}
	}
	return nil
}

// steps is the logarithm, rounded up.
func steps(hosts, radix int) (n int) {
	for have := 1; have < hosts; have *= radix {
		n++
	}
	return n
}
