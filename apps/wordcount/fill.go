package main

import (
	"context"
	"fmt"

	"github.com/golaunch/golaunch/collectives"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/window"
)

// kept is an identifier that this rank has counted, and put into its heap.
type kept struct {
	name  string
	ref   ref
	count uint64
}

// fillTable makes the table and adds the counts of every rank. It is collective.
// The table that it returns does not change any more.
func fillTable(ctx context.Context, comm *world.Comm, counts map[string]uint64) (*window.Window[uint64], *table, error) {
	l, err := agreeOnLayout(ctx, comm, counts)
	if err != nil {
		return nil, nil, err
	}
	heap := heapWords(counts)
	if heap >= maxHeapWords || comm.Size() > maxRanks {
		return nil, nil, fmt.Errorf("rank %d: table: %d words of identifiers on %d ranks are more than a reference can tell apart",
			comm.Rank(), heap, comm.Size())
	}
	win, err := window.Allocate[uint64](ctx, comm, l.heap(comm.Rank())+heap, window.Name("table"))
	if err != nil {
		return nil, nil, err
	}
	t := newTable(l, win, comm.Rank(), win.Local())
	mine := t.keepAll(counts)
	if err := win.Fence(ctx); err != nil { // the identifiers' bytes are there
		return nil, nil, err
	}
	if err := win.LockAll(ctx); err != nil {
		return nil, nil, err
	}
	if err := t.addAll(mine); err != nil {
		return nil, nil, err
	}
	if err := win.UnlockAll(); err != nil {
		return nil, nil, err
	}
	return win, t, win.Fence(ctx) // the counts are there
}

// agreeOnLayout is collective: see layoutFor.
func agreeOnLayout(ctx context.Context, comm *world.Comm, counts map[string]uint64) (layout, error) {
	ranks := uint64(comm.Size())
	need, sum := make([]uint64, ranks), make([]uint64, ranks)
	for name := range counts {
		need[hashOf(name)%ranks]++
	}
	err := collectives.Allreduce(ctx, comm, need, sum, collectives.Sum)
	return layoutFor(sum), err
}

// heapWords is the room that the bytes of these identifiers take.
func heapWords(counts map[string]uint64) int {
	words := 0
	for name := range counts {
		words += wordsOf(len(name))
	}
	return words
}

// keepAll copies the identifiers into this rank's heap.
func (t *table) keepAll(counts map[string]uint64) []kept {
	mine := make([]kept, 0, len(counts))
	for name, count := range counts {
		mine = append(mine, kept{name, t.keep(name), count})
	}
	return mine
}

func (t *table) addAll(mine []kept) error {
	for _, k := range mine {
		if err := t.add(k.name, k.ref, k.count); err != nil {
			return err
		}
	}
	return nil
}
