package window

import (
	"context"
	"errors"

	"github.com/golaunch/golaunch/window/lock"
	"github.com/golaunch/golaunch/window/packet"
)

// The locks of targets on other hosts. A deputy of this rank acquires and releases them
// there.

// peers are the members of a target's lock and latches, to a rank of its host.
func (c *core) peers(target int) lock.Peers {
	if c.away == nil {
		return c.group
	}
	return &lock.Deputies{Peers: c.group, Home: target, Away: c.away}
}

// acquireLock waits for the lock of a target.
func (c *core) acquireLock(ctx context.Context, target int, mode LockMode) error {
	r := c.parts[target].remote
	if r == nil {
		return c.locks[target].Acquire(ctx, mode)
	}
	k, err := c.askForLock(r, mode)
	if err != nil {
		return err
	}
	return c.awaitLock(ctx, k)
}

func (c *core) askForLock(r *remote, mode LockMode) (*call, error) {
	return c.ask(r, packet.Packet{Kind: packet.Lock, Mode: uint8(mode)})
}

// awaitLock waits for a lock that was asked for. If ctx ends first the request is
// withdrawn; the answer then says whether that came too late: on an error the lock
// is not held, and nobody waits for it.
func (c *core) awaitLock(ctx context.Context, k *call) error {
	err := c.group.Until(ctx, k)
	if err == nil || k.Err() != nil {
		return c.conclude(k, err, nil)
	}
	// An error of this is the target's failure, which await finds as well.
	_ = c.send(k.remote, &packet.Packet{Kind: packet.Cancel, Token: k.token})
	if c.await(k, nil) == nil {
		return nil
	}
	return err
}

// releaseLock releases the lock of a target, and completes what this rank has begun there
// if it is remote.
func (c *core) releaseLock(target int, mode LockMode) error {
	if r := c.parts[target].remote; r != nil {
		return c.request(r, packet.Packet{Kind: packet.Unlock}, nil)
	}
	return c.locks[target].Release(mode)
}

// acquireEverywhere is acquireAll with remote targets, which are all asked at once.
func (c *core) acquireEverywhere(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	held, asked := make([]bool, len(c.locks)), make([]*call, len(c.locks))
	var first error
	note := func(t int, err error) {
		if err == nil {
			held[t] = true
		} else if first == nil {
			first = ofTarget(t, err)
			cancel(err) // nobody need wait any more
		}
	}
	for _, r := range c.remotes {
		k, err := c.askForLock(r, Shared)
		if err != nil {
			note(r.target, err)
			break
		}
		asked[r.target] = k
	}
	for t := range c.locks {
		if !c.away[t] && first == nil {
			note(t, c.locks[t].Acquire(ctx, Shared))
		}
	}
	for t, k := range asked {
		if k != nil {
			note(t, c.awaitLock(ctx, k))
		}
	}
	if first == nil {
		return nil
	}
	return errors.Join(first, c.releaseWhere(held))
}

// releaseAllLocks is releaseAll, of remote targets as well.
func (c *core) releaseAllLocks() error {
	if c.remotes == nil {
		return c.releaseAll(len(c.locks))
	}
	held := make([]bool, len(c.locks))
	for t := range held {
		held[t] = true
	}
	return c.releaseWhere(held)
}

// releaseWhere releases the shared locks of those targets, of the remote ones at a time.
func (c *core) releaseWhere(held []bool) error {
	asked := make([]*call, len(c.locks))
	var err error
	note := func(t int, e error) {
		if e != nil {
			err = errors.Join(err, ofTarget(t, e))
		}
	}
	for _, r := range c.remotes {
		if held[r.target] {
			k, e := c.ask(r, packet.Packet{Kind: packet.Unlock})
			asked[r.target] = k
			note(r.target, e)
		}
	}
	for t := range c.locks {
		if held[t] && !c.away[t] {
			note(t, c.locks[t].Release(Shared))
		}
	}
	for t, k := range asked {
		if k != nil {
			note(t, c.await(k, nil))
		}
	}
	return err
}
