package main

import (
	"fmt"

	"github.com/golaunch/golaunch/window"
)

// allocate makes a window of the kind that the mode has.
func allocate[T number](j *job, name string, each int) (*window.Window[T], error) {
	options := []window.Option{window.Name(name)}
	if j.mode != rma {
		options = append(options, window.Coherent)
	}
	return window.Allocate[T](j.ctx, j.comm, each, options...)
}

// pageBytes is how much moves between hosts at a time.
const pageBytes = 4096

// figures are the calls of this rank, and what they moved. Pages are cached by the host, so
// in a coherent window it is the first rank of a host that counts what its pages did.
func (a *array[T]) figures() (traffic, error) {
	if a.mode == rma {
		return a.moved, nil
	}
	moved := traffic{Operations: a.moved.Operations}
	if !a.firstOfHost() {
		return moved, nil
	}
	f, err := a.win.Coherence()
	if err != nil {
		return moved, fmt.Errorf("figures: %w", err)
	}
	moved.Faults = int64(f.ReadFaults + f.WriteFaults)
	moved.Misses = int64(f.ReadMisses + f.WriteMisses)
	moved.Bytes = int64(f.PagesIn) * pageBytes
	return moved, nil
}

// firstOfHost tells whether this is the lowest rank of its host.
func (j *job) firstOfHost() bool {
	for rank := range j.me() {
		if j.comm.Path(rank) == "shm" {
			return false
		}
	}
	return true
}
