package window

import "github.com/golaunch/golaunch/runtime/arena"

// DisownUnconfirmed gives this rank's part back to the arena as Free does behind the
// ranks' agreement, without it, and without a hold.
func (c *core) DisownUnconfirmed() error {
	c.end(errFreed)
	return c.giveBack(arena.HoldName{})
}
