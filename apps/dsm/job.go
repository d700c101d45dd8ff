package main

import (
	"context"
	"time"

	"github.com/golaunch/golaunch/collectives"
	"github.com/golaunch/golaunch/runtime/world"
)

// A job is one run of one kernel in one mode, at this rank.
type job struct {
	ctx    context.Context
	comm   *world.Comm
	mode   string
	size   int
	steps  int
	verify bool

	arrays  []figured // whose figures count
	seconds float64
	traffic traffic
}

// traffic is what a run has moved.
type traffic struct {
	Operations int64 `json:"operations"` // on the parts of other ranks, by calls
	Bytes      int64 `json:"bytes"`      // of these operations, or of the pages that moved
	Misses     int64 `json:"misses"`     // pages that calls waited for
	Faults     int64 `json:"faults"`     // loads and stores that waited for a page
}

// figured is an array that knows what it has moved since it was made.
type figured interface{ figures() (traffic, error) }

func (j *job) me() int    { return j.comm.Rank() }
func (j *job) ranks() int { return j.comm.Size() }

// time runs the kernel proper at all ranks, and takes the figures of what lies
// between the barriers around it.
func (j *job) time(kernel func() error) error {
	before, err := j.figures()
	if err != nil {
		return err
	}
	if err := j.barrier(); err != nil {
		return err
	}
	began := time.Now()
	if err := kernel(); err != nil {
		return err
	}
	if err := j.barrier(); err != nil {
		return err
	}
	j.seconds = time.Since(began).Seconds()
	after, err := j.figures()
	if err != nil {
		return err
	}
	return j.sum(before, after)
}

func (j *job) barrier() error { return collectives.Barrier(j.ctx, j.comm) }

// figures are those of all arrays together: operations, bytes, misses, faults.
func (j *job) figures() (all [4]int64, err error) {
	for _, a := range j.arrays {
		f, err := a.figures()
		if err != nil {
			return all, err
		}
		for i, n := range [4]int64{f.Operations, f.Bytes, f.Misses, f.Faults} {
			all[i] += n
		}
	}
	return all, nil
}

// sum adds the ranks' traffic.
func (j *job) sum(before, after [4]int64) error {
	mine, all := make([]int64, len(after)), make([]int64, len(after))
	for i := range mine {
		mine[i] = after[i] - before[i]
	}
	err := collectives.Allreduce(j.ctx, j.comm, mine, all, collectives.Sum)
	j.traffic = traffic{all[0], all[1], all[2], all[3]}
	return err
}

// total adds the ranks' numbers.
func (j *job) total(mine int64) (int64, error) {
	sum := []int64{mine}
	err := collectives.Allreduce(j.ctx, j.comm, sum, sum, collectives.Sum)
	return sum[0], err
}

// share divides n things among the ranks: first to end-1 are those of rank. All
// shares are consecutive and differ in size by at most one.
func share(n, rank, ranks int) (first, end int) { return rank * n / ranks, (rank + 1) * n / ranks }

// most is the size of the largest share.
func most(n, ranks int) int { return (n + ranks - 1) / ranks }
