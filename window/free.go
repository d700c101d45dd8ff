package window

import (
	"context"
	"errors"
	"fmt"

	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/world"
)

// groupOwner is the member in whose memory the window's group lives.
const groupOwner = 0

// Free gives the window up (MPI_Win_free). It is collective over the window's ranks. It
// ends the epoch of a Fence; a rank that still holds locks makes it an error for all,
// and the window stays as it is. Afterwards every operation is an error, and Local's
// memory must not be touched.
//
// A window that is broken can be freed too. If ctx ends or a rank fails, the
// communicator is broken, and Free is no longer collective: it gives the window up at
// this rank. The memory is used again only when every other rank has done so, too, or
// has left.
func (c *core) Free(ctx context.Context) error {
	if c.over == errFreed {
		return c.errorf("Free: %w", c.over)
	}
	if err := c.in.Enter(world.OpFree); err != nil {
		err = fmt.Errorf("%w (%s)", err, c.what)
		var broken *world.BrokenError
		if errors.As(err, &broken) {
			err = errors.Join(err, c.desert(err))
		}
		return err
	}
	defer c.in.Exit()
	if c.mayNotFree() == nil {
		_ = c.completeAll(everyone) // with whom it fails, the round will
	}
	_, err := agree(ctx, c.in, signatureFree, refusing(c.mayNotFree(), statement{}))
	var refused *refusal
	if errors.As(err, &refused) {
		return c.errorf("Free: %w", err)
	}
	if err != nil {
		err = c.fail(world.OpFree, err)
		return errors.Join(err, c.desert(err))
	}
	c.end(errFreed)
	c.retire(nil) // nobody asks any more: all agree
	unmapped := c.closeCoherent(true)
	if err = c.disband(ctx); err != nil {
		err = c.fail(world.OpFree, err)
	}
	return errors.Join(err, unmapped, c.disown())
}

// desert gives the window up at this rank alone, for a reason.
func (c *core) desert(why error) error {
	c.end(errFreed)
	c.retire(why)
	return errors.Join(c.closeCoherent(false), c.forsake())
}

// retire ends this rank's service. With an error some origins may not know that.
func (c *core) retire(err error) {
	switch {
	case c.service == nil:
	case err == nil:
		c.service.close()
	default:
		c.service.refuse(err)
	}
}

// fail breaks the communicator because op failed here.
func (c *core) fail(op world.Operation, err error) error {
	return fmt.Errorf("%w (%s)", c.in.Fail(op, err), c.what)
}

func (c *core) mayNotFree() error {
	switch {
	case c.epoch == lockAll:
		return errors.New("an epoch of LockAll is open")
	case c.locked > 0:
		return fmt.Errorf("it holds the locks of %d targets", c.locked)
	}
	return nil
}

// disband frees the window's group. Its owner comes last: when the round is over,
// everybody else has let go, so it need not wait, and it does not matter whether the
// group is broken.
func (c *core) disband(ctx context.Context) error {
	if c.me != groupOwner {
		if err := c.group.Free(ctx); err != nil {
			return err
		}
	}
	if _, err := agree(ctx, c.in, signatureFreed, statement{}); err != nil {
		return err
	}
	if c.me == groupOwner {
		return c.group.Free(ctx)
	}
	return nil
}

// disown gives this rank's memory back to the arena: nobody touches it any more.
func (c *core) disown() error { return c.giveBack(arena.HoldName{}) }

// forsake is disown when others may still touch the memory. This rank touches none of
// theirs any more.
func (c *core) forsake() error { return c.giveBack(c.in.Forsake(c.number)) }

func (c *core) giveBack(under arena.HoldName) error {
	var err error
	if c.own.region != nil {
		err = c.own.region.Close()
	}
	if c.own.memory != nil {
		err = errors.Join(err, arena.FreeUnder(c.arena, c.own.memory, under))
	}
	c.own = own{}
	return err
}
