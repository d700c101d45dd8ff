package placement

import (
	"cmp"
	"slices"
	"strings"
)

// A Policy says how many ranks each host gets.
type Policy string

// The policies.
const (
	Slot Policy = "slot"
	Load Policy = "load"
	Even Policy = "host"
)

// Policies are all of them.
var Policies = []Policy{Slot, Even, Load}

// A Host is what is known of a host.
type Host struct {
	Name   string
	Slots  int     // how many ranks it takes
	Free   int     // how many more
	Cores  int     // at least 1 counts
	Load   float64 // runnable processes
	Labels map[string]string
	// Lacks says what it has not that the program needs, "" if that is nothing.
	Lacks string
}

// A Wish says what is to be placed.
type Wish struct {
	Ranks   int // 1 or more
	Policy  Policy
	PerHost int // how many ranks a host may have; 0: any number
	// Hosts are the names of those that may take ranks, in the order in which they
	// do; none: all, by name.
	Hosts []string
	// Labels are what a host must have: the value of a name.
	Labels map[string]string
	// Oversubscribe lets hosts have more ranks than slots.
	Oversubscribe bool
}

// A Block is neighbouring ranks on a host.
type Block struct {
	Host  string
	Ranks int
}

// Place divides ranks among hosts. Blocks are in the order of their ranks and not
// empty. The error is a *LackError, or says that Wish is wrong.
func Place(w Wish, hosts []Host) ([]Block, error) {
	if err := w.check(hosts); err != nil {
		return nil, err
	}
	hosts = slices.SortedFunc(slices.Values(hosts), func(a, b Host) int { return strings.Compare(a.Name, b.Name) })
	candidates := w.candidates(hosts)
	room := w.room(candidates)
	if sum(room) < w.Ranks {
		return nil, w.lack(hosts, candidates, room)
	}
	return blocks(candidates, w.share(candidates, room)), nil
}

// candidates are the hosts that may take ranks, in the order in which they do.
func (w *Wish) candidates(hosts []Host) (fit []Host) {
	for _, h := range hosts {
		if w.unfit(&h) == "" {
			fit = append(fit, h)
		}
	}
	if len(w.Hosts) > 0 {
		slices.SortStableFunc(fit, func(a, b Host) int {
			return cmp.Compare(slices.Index(w.Hosts, a.Name), slices.Index(w.Hosts, b.Name))
		})
	}
	return fit
}

// room is how many ranks each host may get. Whoever oversubscribes gives every host
// its slots again until there is enough.
func (w *Wish) room(hosts []Host) []int {
	room := make([]int, len(hosts))
	for i, h := range hosts {
		room[i] = w.cap(h.Free)
	}
	for w.Oversubscribe && sum(room) < w.Ranks {
		before := sum(room)
		for i, h := range hosts {
			room[i] = w.cap(room[i] + max(h.Slots, 1))
		}
		if sum(room) == before {
			break
		}
	}
	return room
}

func (w *Wish) cap(n int) int {
	if w.PerHost > 0 {
		n = min(n, w.PerHost)
	}
	return min(max(n, 0), w.Ranks)
}

// share says how many ranks each host gets. There is room enough.
func (w *Wish) share(hosts []Host, room []int) []int {
	switch w.Policy {
	case Even:
		return even(w.Ranks, room)
	case Load:
		return leastLoaded(w.Ranks, hosts, room)
	}
	return fill(w.Ranks, room)
}

// fill fills one host after the other.
func fill(ranks int, room []int) []int {
	sizes := make([]int, len(room))
	for i, n := range room {
		sizes[i] = min(n, ranks)
		ranks -= sizes[i]
	}
	return sizes
}

// even gives each host the same, as far as there is room: sizes of hosts with room
// left differ by one at most, the larger ones first.
func even(ranks int, room []int) []int {
	sizes := level(room, 0)
	for height := 1; sum(level(room, height)) <= ranks && sum(sizes) < ranks; height++ {
		sizes = level(room, height)
	}
	for i, height := 0, slices.Max(sizes); sum(sizes) < ranks; i++ {
		if sizes[i] == height && room[i] > height {
			sizes[i]++
		}
	}
	return sizes
}

// level is what is in each room that is filled up to a height.
func level(room []int, height int) []int {
	sizes := make([]int, len(room))
	for i, n := range room {
		sizes[i] = min(n, height)
	}
	return sizes
}

// leastLoaded gives every rank to the host that has the least to do afterwards. A
// slot that is taken counts as something to do even if the load does not show it yet.
func leastLoaded(ranks int, hosts []Host, room []int) []int {
	sizes := make([]int, len(room))
	after := func(i int) float64 {
		h := &hosts[i]
		return (max(h.Load, float64(h.Slots-h.Free)) + float64(sizes[i]+1)) / float64(max(h.Cores, 1))
	}
	for range ranks {
		best := -1
		for i := range hosts {
			if sizes[i] < room[i] && (best < 0 || after(i) < after(best)) {
				best = i
			}
		}
		sizes[best]++
	}
	return sizes
}

func blocks(hosts []Host, sizes []int) (list []Block) {
	for i, n := range sizes {
		if n > 0 {
			list = append(list, Block{hosts[i].Name, n})
		}
	}
	return list
}

func sum(list []int) (n int) {
	for _, k := range list {
		n += k
	}
	return n
}
