package main

import (
	"context"

	"github.com/golaunch/golaunch/collectives"
	"github.com/golaunch/golaunch/runtime/world"
)

// A graph is who imports whom.
//
// Invariant: the importers of package v are importers[begin[v]:begin[v+1]], in
// increasing order.
type graph struct {
	names     []string // of the packages, sorted; at rank 0 only
	imports   []int32  // how many packages each of them imports
	begin     []int32
	importers []int32
}

// packages is how many there are.
func (g *graph) packages() int { return len(g.imports) }

// share is which packages a rank has, first to end-1. All shares are consecutive, and
// all but the last ones have the same size.
func (g *graph) share(rank, ranks int) (first, end int) {
	each := g.each(ranks)
	return min(rank*each, g.packages()), min((rank+1)*each, g.packages())
}

func (g *graph) each(ranks int) int { return (g.packages() + ranks - 1) / ranks }

// shareGraph gives every rank the graph that rank 0 reads: ranks on other hosts may have
// another tree.
func shareGraph(ctx context.Context, comm *world.Comm, root string) (*graph, error) {
	g := &graph{}
	if comm.Rank() == 0 {
		var err error
		if g, err = readTree(ctx, root); err != nil {
			return nil, err
		}
	}
	sizes := []int64{int64(len(g.imports)), int64(len(g.importers))}
	if err := collectives.Bcast(ctx, comm, 0, sizes); err != nil {
		return nil, err
	}
	if comm.Rank() != 0 {
		g.imports, g.begin, g.importers = make([]int32, sizes[0]), make([]int32, sizes[0]+1), make([]int32, sizes[1])
	}
	for _, part := range [][]int32{g.imports, g.begin, g.importers} {
		if err := collectives.Bcast(ctx, comm, 0, part); err != nil {
			return nil, err
		}
	}
	return g, nil
}
