package tree

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTopology(t *testing.T) {
	want := []Place{
		{-1, 1, Range{0, 4}}, {0, 2, Range{1, 3}}, {1, 3, Range{2, 3}}, {0, 2, Range{3, 4}},
		{-1, 1, Range{4, 7}}, {4, 2, Range{5, 6}}, {4, 2, Range{6, 7}},
	}
	if diff := cmp.Diff(want, Topology(7, 2)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{1, 0}, Ancestors(want, 2)); diff != "" {
		t.Error(diff)
	}
}

// Whatever the number of hosts and the arity: each host is below its parent, nobody
// has too many children, the subtrees of one host's children make up its own, and the
// tree is no deeper than it must be.
func TestTopologies(t *testing.T) {
	for arity := 1; arity <= 9; arity++ {
		for hosts := range 300 {
			if err := checkTopology(Topology(hosts, arity), hosts, arity); err != nil {
				t.Fatalf("%d hosts, arity %d: %v", hosts, arity, err)
			}
		}
	}
	if err := checkTopology(Topology(100_000, Arity), 100_000, Arity); err != nil {
		t.Error(err)
	}
}

func checkTopology(places []Place, hosts, arity int) error {
	if len(places) != hosts {
		return fmt.Errorf("%d places", len(places))
	}
	children := map[int]int{}
	covered := map[int]int{} // how many hosts the children's subtrees have
	depth, room := 1, arity
	for level := arity; room < hosts; depth++ {
		level *= arity
		room += level
	}
	for i, p := range places {
		children[p.Parent]++
		covered[p.Parent] += p.Subtree.End - p.Subtree.First
		within := Range{0, hosts}
		if p.Parent >= 0 {
			within = places[p.Parent].Subtree
		}
		switch {
		case p.Parent >= i || p.Subtree.First != i:
			return fmt.Errorf("host %d: %+v", i, p)
		case p.Subtree.First < within.First || p.Subtree.End > within.End:
			return fmt.Errorf("host %d: %+v is not within its parent's %+v", i, p.Subtree, within)
		case p.Depth > depth || p.Depth != len(Ancestors(places, i))+1:
			return fmt.Errorf("host %d: depth %d, of at most %d", i, p.Depth, depth)
		}
	}
	for parent, n := range children {
		size := hosts
		if parent >= 0 {
			size = places[parent].Subtree.End - places[parent].Subtree.First - 1
		}
		if n > arity || covered[parent] != size {
			return fmt.Errorf("%d has %d children, with %d hosts of %d", parent, n, covered[parent], size)
		}
	}
	return nil
}
