package main

import (
	"context"
	"fmt"
	"time"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/window"
)

// tally is what one rank has done.
type tally struct {
	Files       uint64
	Bytes       uint64
	Identifiers uint64
	Nanoseconds uint64 // taking, reading and scanning
}

// countFiles takes files until there are none left. It is collective. The shared
// counter, on rank 0, is the index of the next file that nobody has taken.
func countFiles(ctx context.Context, comm *world.Comm, files []source, p *progress) (*counter, tally, error) {
	words := 0
	if comm.Rank() == 0 {
		words = 1
	}
	next, err := window.Allocate[uint64](ctx, comm, words, window.Name("next file"))
	if err != nil {
		return nil, tally{}, err
	}
	if err := next.LockAll(ctx); err != nil {
		return nil, tally{}, err
	}
	begin := time.Now()
	c := newCounter()
	if err := take(next, comm.Rank(), files, c, p); err != nil {
		return nil, tally{}, err
	}
	mine := tally{c.files, c.bytes, c.identifiers, uint64(time.Since(begin))}
	if err := next.UnlockAll(); err != nil {
		return nil, tally{}, err
	}
	return c, mine, next.Free(ctx)
}

// take counts the files that this rank draws from the shared counter.
func take(next *window.Window[uint64], rank int, files []source, c *counter, p *progress) error {
	for {
		i, err := next.FetchAdd(0, 0, 1)
		if err != nil || i >= uint64(len(files)) {
			return err
		}
		p.taken(int(i))
		if err := c.file(files[i].path); err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
	}
}
