package transporttest

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport"
)

// A Fault is one thing that goes wrong at one rank.
type Fault struct {
	Rank int // whose calls are counted

	// Operation is the number, from 1, of the Put, Get, FetchAdd, CompareSwap or
	// Flush that fails; 0: none. It has no effect at the target.
	Operation int
	// Late makes the operation fail in its completion; the call returns nil. An
	// operation with OpID 0 fails in its call all the same.
	Late bool
	// Message is the number, from 1, of the Send that fails; 0: none.
	Message int

	Err error // nil: transport.ErrPeerFailed
}

// Failing is a provider whose ranks fail as told.
type Failing struct {
	transport.Provider
	faults []Fault
	jobs   []atomic.Pointer[transport.Config] // by rank
	dead   []atomic.Bool
}

// NewFailing returns p, for jobs of at most size ranks, with faults. A Failing
// serves one job.
func NewFailing(p transport.Provider, size int, faults ...Fault) *Failing {
	return &Failing{
		Provider: p, faults: faults,
		jobs: make([]atomic.Pointer[transport.Config], size), dead: make([]atomic.Bool, size),
	}
}

// Kill lets a rank die: calls that others make or have blocked towards it end
// with transport.ErrPeerFailed, and its own with transport.ErrClosed. What it
// sent before may still arrive.
func (f *Failing) Kill(rank int) {
	f.dead[rank].Store(true)
	for i := range f.jobs {
		if cfg := f.jobs[i].Load(); cfg != nil {
			cfg.Ring(i)
		}
	}
}

// Open opens p's endpoint with a Wait that knows who is dead.
func (f *Failing) Open(cfg transport.Config) (transport.Endpoint, error) {
	inner := cfg.Wait
	cfg.Wait = func(ctx context.Context, peer int, ready func() bool) error {
		err := inner(ctx, peer, func() bool { return f.check(cfg.Rank, peer) != nil || ready() })
		if dead := f.check(cfg.Rank, peer); dead != nil {
			return dead
		}
		return err
	}
	f.jobs[cfg.Rank].Store(&cfg)
	e, err := f.Provider.Open(cfg)
	if err != nil {
		return nil, err
	}
	return keepSides(&failingEndpoint{Endpoint: e, failing: f, cfg: &cfg}, e), nil
}

// check tells whether rank can still do something with peer.
func (f *Failing) check(rank, peer int) error {
	switch {
	case f.dead[rank].Load():
		return fmt.Errorf("rank %d was killed: %w", rank, transport.ErrClosed)
	case f.dead[peer].Load():
		return fmt.Errorf("rank %d was killed: %w", peer, transport.ErrPeerFailed)
	}
	return nil
}

// operation returns the fault of a rank's n-th operation, message that of its
// n-th Send.
func (f *Failing) operation(rank, n int) *Fault {
	return f.find(func(x *Fault) bool { return x.Rank == rank && x.Operation == n })
}

func (f *Failing) message(rank, n int) *Fault {
	return f.find(func(x *Fault) bool { return x.Rank == rank && x.Message == n })
}

func (f *Failing) find(match func(*Fault) bool) *Fault {
	for i := range f.faults {
		if match(&f.faults[i]) {
			return &f.faults[i]
		}
	}
	return nil
}

func (x *Fault) error() error {
	if x.Err == nil {
		return transport.ErrPeerFailed
	}
	return x.Err
}
