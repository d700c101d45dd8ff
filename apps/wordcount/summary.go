package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/golaunch/golaunch/collectives"
	"github.com/golaunch/golaunch/runtime/world"
)

// result is what rank 0 reports.
type result struct {
	Files         uint64
	Bytes         uint64
	Identifiers   uint64
	Distinct      uint64
	Seconds       float64 // from listing the files until the commonest are known
	SerialSeconds float64 // how long the serial count took; 0 without --verify
	Verified      *bool   // whether the serial count agrees; nil without --verify
	Ranks         []tally // by rank
	Top           []word
}

// summarize combines what the ranks have. It is collective; rank 0 gets all of
// the result, the others only the totals.
func summarize(ctx context.Context, comm *world.Comm, t *table, mine tally, top int) (*result, error) {
	own := slices.Collect(entries(t.local[:t.heap(t.me)]))
	res, err := totals(ctx, comm, mine, own)
	if err != nil {
		return nil, err
	}
	if res.Ranks, err = gather(ctx, comm, []tally{mine}); err != nil {
		return nil, err
	}
	res.Top, err = ranking(ctx, comm, t, own, top)
	return res, err
}

// totals adds up the ranks' tallies, and checks that the table holds exactly the
// identifiers that were scanned.
func totals(ctx context.Context, comm *world.Comm, mine tally, own []entry) (*result, error) {
	in := []uint64{mine.Files, mine.Bytes, mine.Identifiers, uint64(len(own)), 0}
	for _, e := range own {
		in[4] += e.Count
	}
	sum := make([]uint64, len(in))
	if err := collectives.Allreduce(ctx, comm, in, sum, collectives.Sum); err != nil {
		return nil, err
	}
	if sum[4] != sum[2] {
		return nil, fmt.Errorf("rank %d: the table holds %d identifiers, but %d were scanned", comm.Rank(), sum[4], sum[2])
	}
	return &result{Files: sum[0], Bytes: sum[1], Identifiers: sum[2], Distinct: sum[3]}, nil
}

// ranking finds the commonest identifiers of all: each rank sends references to
// the commonest of its own region, and rank 0 fetches their names. It changes own.
func ranking(ctx context.Context, comm *world.Comm, t *table, own []entry, top int) ([]word, error) {
	mine, _, err := best(own, top, t.name)
	if err != nil {
		return nil, err
	}
	// Every rank sends the same number; what is missing is zero.
	mine = append(mine, make([]entry, top-len(mine))...)
	all, err := gather(ctx, comm, mine)
	if err != nil || comm.Rank() != 0 {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(e entry) bool { return e.Ref == 0 })
	_, words, err := best(all, top, t.name)
	return words, err
}

// gather returns, at rank 0, every rank's elements, in the order of the ranks.
func gather[T any](ctx context.Context, comm *world.Comm, mine []T) ([]T, error) {
	var all []T
	if comm.Rank() == 0 {
		all = make([]T, len(mine)*comm.Size())
	}
	return all, collectives.Gather(ctx, comm, 0, mine, all)
}
