package transporttest

import (
	"testing"

	"github.com/golaunch/golaunch/transport"
)

// A World is the endpoints of one job, by rank, and the job that serves them.
type World struct {
	Job       *Job
	Endpoints []transport.Endpoint
}

// An Option changes how NewWorld makes a World.
type Option func(*options)

type options struct {
	memory    func(n int) []byte
	allocates string
	watches   bool
}

// WithMemory makes memory the source of segments and scratch memory. It returns
// zeroed memory, aligned to 64 bytes, that stays until the test has ended.
func WithMemory(memory func(n int) []byte) Option {
	return func(o *options) { o.memory = memory }
}

// Allocates says why the transport allocates in a steady state, by no fault of its
// own: the check of that is skipped.
func Allocates(why string) Option {
	return func(o *options) { o.allocates = why }
}

// Watching makes ranks that set Config.Watches: for [RunWatched].
func Watching() Option { return func(o *options) { o.watches = true } }

// NewWorld opens the endpoints of size ranks in this process. They are closed
// when the test ends.
func NewWorld(t testing.TB, p transport.Provider, size int, opts ...Option) *World {
	t.Helper()
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	w := &World{Job: NewJob(size, o.memory)}
	w.Job.why = o.allocates
	if o.watches {
		w.Job.watch(t)
	}
	for rank := range size {
		e, err := p.Open(w.Job.Config(rank))
		if err != nil {
			t.Fatalf("open endpoint of rank %d: %v", rank, err)
		}
		t.Cleanup(func() { closeEndpoint(t, rank, e) })
		w.Endpoints = append(w.Endpoints, e)
		w.Job.ranks[rank].endpoint = e
	}
	return w
}

func closeEndpoint(t testing.TB, rank int, e transport.Endpoint) {
	if err := e.Close(); err != nil {
		t.Errorf("close endpoint of rank %d: %v", rank, err)
	}
}
