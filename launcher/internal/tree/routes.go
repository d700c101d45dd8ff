package tree

import (
	"maps"
	"slices"
)

// routes is what a host, or the root, knows of the tree below it.
type routes struct {
	self  ID
	facts map[ID]Fact
	below map[ID][]ID // who is attached to whom
}

func newRoutes(self ID) routes {
	return routes{self: self, facts: map[ID]Fact{}, below: map[ID][]ID{}}
}

// maxDepth bounds the way to the root: a peer that is out of its mind might make a
// ring of facts.
const maxDepth = 64

// learn takes a fact, and reports whether it is news.
func (r *routes) learn(f Fact) bool {
	old, known := r.facts[f.Host]
	if f.Host == r.self || known && (f.N < old.N || f.N == old.N && (old.Over || !f.Over)) {
		return false
	}
	if known && old.Parent != f.Parent {
		r.forget(old)
		known = false
	}
	if !known {
		r.below[f.Parent] = append(r.below[f.Parent], f.Host)
	}
	r.facts[f.Host] = f
	return true
}

// all lists every fact. Some are of hosts below one whose attachment is not known
// yet.
func (r *routes) all() (facts []Fact) {
	for _, id := range slices.Sorted(maps.Keys(r.facts)) {
		facts = append(facts, r.facts[id])
	}
	return facts
}

// forget takes a host away from its parent.
func (r *routes) forget(f Fact) {
	children := r.below[f.Parent]
	for i, id := range children {
		if id == f.Host {
			children[i] = children[len(children)-1]
			r.below[f.Parent] = children[:len(children)-1]
			return
		}
	}
}

// next is who of those attached here leads to a host; false: nobody.
func (r *routes) next(host ID) (ID, bool) {
	for range maxDepth {
		f, known := r.facts[host]
		if !known || f.Over {
			return 0, false
		}
		if f.Parent == r.self {
			return host, true
		}
		host = f.Parent
	}
	return 0, false
}

// path is the way to a host; nil: there is none.
func (r *routes) path(host ID) (hops []Hop) {
	for range maxDepth {
		f, known := r.facts[host]
		if !known || f.Over {
			return nil
		}
		hops = append(hops, Hop{host, f.N})
		if f.Parent == r.self {
			slices.Reverse(hops)
			return hops
		}
		host = f.Parent
	}
	return nil
}

// subtree calls visit for a host and all that are attached to it, directly or not,
// those above others first.
func (r *routes) subtree(host ID, visit func(ID)) { r.walk(host, visit, maxDepth) }

func (r *routes) walk(host ID, visit func(ID), depth int) {
	if depth == 0 {
		return
	}
	visit(host)
	for _, child := range r.below[host] {
		r.walk(child, visit, depth-1)
	}
}

// why says how the way to a host ended.
func (r *routes) why(host ID) string {
	f := r.facts[host]
	if f.Over {
		return f.Text
	}
	return "the host it was attached to was lost, and it has not attached to another"
}
