package window

import "github.com/golaunch/golaunch/runtime/arena"

// DisownUnconfirmed gives this rank's part back to the arena as Free does behind the
// ranks' agreement, without it, and without a hold.
func (c *core) DisownUnconfirmed() error {
	c.end(errFreed)
	return c.giveBack(arena.HoldName{})
}

// ForgoNIC has this rank's atomic operations be the CPU's although the others' are the
// device's, and reports whether they are: the agreement in Allocate undone.
func (c *core) ForgoNIC() bool {
	had := c.nics != nil
	c.nics, c.native = nil, c.kind.Native
	return had
}
