package window

import (
	"context"
	"errors"
	"fmt"

	"github.com/golaunch/golaunch/window/lock"
)

// LockMode says with whom the lock of a target may be held together.
type LockMode = lock.Mode

const (
	// Shared: with other ranks that hold it Shared.
	Shared = lock.Shared
	// Exclusive: alone.
	Exclusive = lock.Exclusive
)

// Lock waits for the lock of target and opens an access epoch to it (MPI_Win_lock). Ranks
// get the lock in the order in which they came. target may be this rank. It ends the
// epoch that a Fence has opened.
//
// A rank may hold the locks of several targets, but each only once, and none in an
// epoch of LockAll. The error is the cause of ctx's end, a *world.RankFailedError if any
// rank of the window fails while this one waits, or a *world.BrokenError; no epoch is
// open then. While nobody else wants the lock, ctx is not looked at.
func (c *core) Lock(ctx context.Context, target int, mode LockMode) error {
	if mode == Exclusive && c.epoch == passive && uint(target) < uint(len(c.locks)) && c.group.Broken() == nil {
		if s := &c.locks[target]; s.mode == 0 && s.TryExclusive() {
			c.opened(target, mode)
			return nil
		}
	}
	return c.lockSlowly(ctx, target, mode)
}

func (c *core) opened(target int, mode LockMode) {
	c.locks[target].mode = mode
	c.locked++
	c.parts[target].open()
}

func (c *core) lockSlowly(ctx context.Context, target int, mode LockMode) error {
	err := c.mayLock(target, mode)
	if err == nil {
		c.leaveFence()
		err = c.acquireLock(ctx, target, mode)
	}
	if err != nil {
		return c.errorf("Lock (%v) of target %d: %w", mode, target, err)
	}
	c.opened(target, mode)
	return nil
}

func (c *core) mayLock(target int, mode LockMode) error {
	if err := c.noTarget(target); err != nil {
		return err
	}
	if err := c.unusable(); err != nil {
		return err
	}
	switch {
	case mode != Shared && mode != Exclusive:
		return errors.New("the mode must be Shared or Exclusive")
	case c.epoch == lockAll:
		return errors.New("an epoch of LockAll is open: call UnlockAll first")
	case c.locks[target].mode != 0:
		return fmt.Errorf("this rank already holds it (%v)", c.locks[target].mode)
	}
	return nil
}

// unusable returns why the window can no longer be synchronised, nil if it can.
func (c *core) unusable() error {
	if c.over == nil {
		if err := c.group.Broken(); err != nil {
			c.end(err)
		}
	}
	return c.over
}

// leaveFence ends an epoch of Fence: the rank goes over to locks.
func (c *core) leaveFence() {
	if c.epoch == fence {
		c.closeAll()
		c.epoch = passive
	}
}

// Unlock completes every operation of this rank on target, gives its lock to whoever
// comes next, and ends the epoch (MPI_Win_unlock). It waits for nobody, but for the answer
// of a target on another host. On an error the epoch has ended as well: a failed rank keeps the lock from going on to others.
func (c *core) Unlock(target int) error {
	if uint(target) < uint(len(c.locks)) {
		if s := &c.locks[target]; s.mode == Exclusive {
			c.ended(target)
			if s.ReleaseExclusive() {
				return nil
			}
			return c.unlocked(target, c.releaseLock(target, Exclusive))
		}
	}
	return c.unlockSlowly(target)
}

func (c *core) ended(target int) {
	c.locks[target].mode = 0
	c.locked--
	c.parts[target].close()
}

func (c *core) unlockSlowly(target int) error {
	err := c.noTarget(target)
	if err == nil && c.locks[target].mode == 0 {
		err = c.notLocked()
	}
	if err != nil {
		return c.unlocked(target, err)
	}
	mode := c.locks[target].mode
	c.ended(target)
	return c.unlocked(target, c.releaseLock(target, mode))
}

func (c *core) notLocked() error {
	switch {
	case c.over != nil:
		return c.over
	case c.epoch == lockAll:
		return errors.New("its lock is held by LockAll: call UnlockAll")
	}
	return errors.New("this rank does not hold its lock")
}

func (c *core) unlocked(target int, err error) error {
	if err == nil {
		return nil
	}
	return c.errorf("Unlock of target %d: %w", target, err)
}

// LockAll waits for the locks of all targets, Shared, and opens an access epoch to
// them (MPI_Win_lock_all). It is no collective operation. Otherwise it is as Lock; on an
// error none of the locks is held.
func (c *core) LockAll(ctx context.Context) error {
	err := c.unusable()
	switch {
	case err != nil:
	case c.epoch == lockAll:
		err = errors.New("an epoch of LockAll is open already")
	case c.locked > 0:
		err = fmt.Errorf("this rank holds the locks of %d targets: unlock them first", c.locked)
	default:
		c.leaveFence()
		err = c.acquireAll(ctx)
	}
	if err != nil {
		return c.errorf("LockAll: %w", err)
	}
	c.epoch = lockAll
	c.openAll()
	return nil
}

func (c *core) acquireAll(ctx context.Context) error {
	if c.remotes != nil {
		return c.acquireEverywhere(ctx)
	}
	for t := range c.locks {
		if err := c.locks[t].Acquire(ctx, Shared); err != nil {
			return errors.Join(ofTarget(t, err), c.releaseAll(t))
		}
	}
	return nil
}

// releaseAll releases the shared locks of the first n targets.
func (c *core) releaseAll(n int) error {
	var err error
	for t := range n {
		if e := c.locks[t].Release(Shared); e != nil {
			err = errors.Join(err, ofTarget(t, e))
		}
	}
	return err
}

func ofTarget(t int, err error) error { return fmt.Errorf("the lock of target %d: %w", t, err) }

// UnlockAll completes every operation of this rank, releases what LockAll has
// acquired and ends the epoch (MPI_Win_unlock_all). It is an error as Unlock is.
func (c *core) UnlockAll() error {
	err := c.over
	switch {
	case err != nil:
	case c.epoch != lockAll:
		err = errors.New("no epoch of LockAll is open")
	default:
		c.epoch = passive
		c.closeAll()
		err = c.releaseAllLocks()
	}
	if err != nil {
		return c.errorf("UnlockAll: %w", err)
	}
	return nil
}
