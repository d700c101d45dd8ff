package window

import (
	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/window/element"
	"github.com/golaunch/golaunch/window/lock"
)

// A Window is one rank's view of the memory that the ranks of a communicator share
// by Allocate: a part of Size(rank) elements at each rank.
type Window[T any] struct{ core }

// core is what does not depend on the element type.
//
// Invariants: epoch is lockAll exactly when every lock is held shared by LockAll; locked
// counts the locks that Lock holds, and is 0 in other epochs than passive; part t's limit is
// open exactly when isOpen(t), unless it is remote.
type core struct {
	parts  []part
	sizes  []int // of the parts, in elements
	native bool  // Sum is one instruction: FetchAdd takes the short way
	epoch  epoch
	locked int
	locks  []seat

	remotes []*remote // the targets on other hosts; nil if there are none
	away    []bool    // which those are
	calls   calls     // what this rank waits for from their services
	service *service  // of this rank, for the same ranks; nil if there are none

	coherent   *coherent // nil: the parts are not cached
	caching    caching   // how they are, if they are
	restricted bool      // by NICAtomics to what a NIC has
	nics       []nic     // by member: they carry out what is atomic; nil: CPUs do

	kind    element.Kind
	latches []lock.Latches // of the targets' ranges; nil unless the kind needs them
	group   *world.Group
	in      *world.Inside
	arena   *arena.Arena
	me      int
	number  uint64 // of the window, on its communicator
	what    string // for errors: `window "halo"`
	over    error  // why the window cannot be used any more, in epoch ended
	own     own
}

// own is the memory that this rank gives to the window.
type own struct {
	memory []byte // of the arena: the control block, then the elements
	region *world.Region
}

// A seat is this rank's place at one target's lock.
type seat struct {
	lock.Lock
	mode lock.Mode // in which Lock holds it; 0: not
}

// epoch is what operations are allowed to all targets together.
type epoch uint8

const (
	passive epoch = iota // to those targets whose lock is held
	fence                // to all, between Fences
	lockAll              // to all, after LockAll
	ended                // to none any more: freed or broken
)

// Local is this rank's own part. The memory is the same that others reach by
// operations: see docs/windows.md for when what they store can be seen here. It must
// not be used after Free, nor after the rank has left. A coherent window has none, and Local
// returns nil, where Map is an error.
func (w *Window[T]) Local() []T {
	p := w.parts[w.me]
	if w.coherent != nil {
		if w.coherent.view == nil || w.coherent.view.Unmapped != nil {
			return nil
		}
		p.count = w.sizes[w.me]
	}
	return elements[T](&p)
}

// Size is the number of elements of a rank's part, 0 if there is no such rank.
func (c *core) Size(target int) int {
	if uint(target) >= uint(len(c.sizes)) {
		return 0
	}
	return c.sizes[target]
}

// isOpen reports whether an access epoch to a target is open.
func (c *core) isOpen(target int) bool {
	switch c.epoch {
	case fence, lockAll:
		return true
	case passive:
		return c.locks[target].mode != 0
	}
	return false
}

func (c *core) openAll() {
	for t := range c.parts {
		c.parts[t].open()
	}
}

func (c *core) closeAll() {
	for t := range c.parts {
		c.parts[t].close()
	}
}

// end makes every later call an error.
func (c *core) end(why error) {
	c.closeAll()
	c.epoch, c.over = ended, why
}
