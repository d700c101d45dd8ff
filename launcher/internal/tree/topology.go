package tree

// Arity is how many hosts attach to one host, and to the root (docs/launch-tree.md
// says why).
const Arity = 8

// A Range is hosts First to End-1, numbered from 0 in the order of their ranks.
type Range struct{ First, End int }

// A Place is where a host stands in the tree.
type Place struct {
	Parent  int   // the host it attaches to; -1: the root
	Depth   int   // links between it and the root, 1 or more
	Subtree Range // itself, first, and every host below it
}

// Split divides hosts among at most arity subtrees of neighbours whose sizes differ
// by one at most, the larger ones first. The first host of each is its head, and
// Split of the rest its children's subtrees.
func Split(r Range, arity int) (parts []Range) {
	for left := min(max(arity, 1), r.End-r.First); left > 0; left-- {
		size := (r.End - r.First + left - 1) / left
		parts = append(parts, Range{r.First, r.First + size})
		r.First += size
	}
	return parts
}

// Topology gives each of so many hosts its place: the tree that repeated Split
// makes. A host's parent has a smaller number than the host.
func Topology(hosts, arity int) []Place {
	places := make([]Place, hosts)
	var settle func(parent, depth int, below Range)
	settle = func(parent, depth int, below Range) {
		for _, part := range Split(below, arity) {
			places[part.First] = Place{parent, depth, part}
			settle(part.First, depth+1, Range{part.First + 1, part.End})
		}
	}
	settle(-1, 1, Range{0, hosts})
	return places
}

// Ancestors lists the hosts above a host, the nearest first; the root, which is
// above all, is not in it.
func Ancestors(places []Place, host int) (above []int) {
	for p := places[host].Parent; p >= 0; p = places[p].Parent {
		above = append(above, p)
	}
	return above
}
