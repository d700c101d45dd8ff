package window

import (
	"context"
	"errors"
	"fmt"
)

// signatureFence is what the window's group compares in a round of Fence.
const signatureFence = 1

// Fence is collective over the window's ranks: it ends the epoch that the last Fence
// has opened, waits until every rank has called it, and opens an epoch to all targets
// (MPI_Win_fence). What any rank has put before its Fence is visible to all behind
// theirs.
//
// A rank that holds locks must release them first. A Fence that fails at one rank,
// because its ctx ends, a rank has failed or locks are held, breaks the window: on
// every rank this and every later synchronisation call gets a *world.BrokenError.
func (c *core) Fence(ctx context.Context) error {
	if c.epoch == passive && c.locked == 0 {
		c.epoch = fence
		c.openAll() // for the time behind the barrier
	}
	if c.epoch != fence {
		return c.fenceFailed(c.mayNotFence())
	}
	// A rank that gave up may have published before: WaitAll alone would not notice.
	if err := c.group.Broken(); err != nil {
		return c.fenceFailed(err)
	}
	if c.remotes != nil {
		if err := c.completeAll(everyone); err != nil {
			return c.fenceFailed(err)
		}
	}
	c.group.Publish(signatureFence, nil)
	if err := c.group.WaitAll(ctx); err != nil {
		return c.fenceFailed(err)
	}
	return nil
}

func everyone(int) bool { return true }

func (c *core) mayNotFence() error {
	switch {
	case c.over != nil:
		return c.over
	case c.epoch == lockAll:
		return errors.New("an epoch of LockAll is open: call UnlockAll first")
	}
	return fmt.Errorf("this rank holds the locks of %d targets: unlock them first", c.locked)
}

// fenceFailed breaks the window, so that nobody waits for this rank.
func (c *core) fenceFailed(err error) error {
	if c.over == nil {
		c.group.Break("Fence", err)
		c.abandon(err)
	}
	return c.errorf("Fence: %w", err)
}

// abandon ends the use of a broken window here, with the error that all ranks get.
func (c *core) abandon(why error) {
	if broken := c.group.Broken(); broken != nil {
		why = broken
	}
	c.end(why)
}
