package window

import (
	"errors"
	"fmt"
)

var errFreed = errors.New("the window was freed")

// errorf names the rank and the window in front of an error's text.
func (c *core) errorf(format string, args ...any) error {
	return fmt.Errorf("rank %d: %s: %w", c.in.Rank(), c.what, fmt.Errorf(format, args...))
}

// noTarget is the error for a rank that is not in the communicator, nil if it is.
func (c *core) noTarget(target int) error {
	if uint(target) < uint(len(c.parts)) {
		return nil
	}
	return fmt.Errorf("there is no such rank: the communicator's are 0 to %d", len(c.parts)-1)
}

// refuse says why an operation on n elements at disp of a target was not carried out.
// It is where every operation ends up that is not simply allowed.
func (c *core) refuse(op string, target, disp, n int) error {
	err := c.noTarget(target)
	if err == nil {
		err = c.noEpoch(target)
	}
	if err == nil {
		err = fmt.Errorf("exceeds its part, of %d elements", c.Size(target))
	}
	return c.failed(op, target, disp, n, err)
}

// failed names an operation on n elements at disp of a target in front of its error, nil
// if there is none.
func (c *core) failed(op string, target, disp, n int, err error) error {
	if err == nil {
		return nil
	}
	return c.errorf("%s of %s at displacement %d of target %d: %w", op, plural(n), disp, target, err)
}

// noEpoch is the error for a target to which no epoch is open, nil if one is.
func (c *core) noEpoch(target int) error {
	switch {
	case c.over != nil:
		return c.over
	case !c.isOpen(target):
		return errNoEpoch
	}
	return nil
}

var errNoEpoch = errors.New("no epoch is open: call Fence, Lock or LockAll first")

func plural(n int) string {
	if n == 1 {
		return "1 element"
	}
	return fmt.Sprintf("%d elements", n)
}
