package foreign

import (
	"cmp"
	"slices"

	"github.com/golaunch/golaunch/runtime/arena/foreign/ranges"
)

// adopted is what may be registered, in order; ranges do not touch each other. It is
// never changed, only replaced.
type adopted struct {
	span   ranges.Range // from the first one's start to the last one's end
	ranges []ranges.Range
}

// Adopt says that memory is no Go variable's, that it stays mapped, with the same
// pages, until it is invalidated, and that operations on it may register it. Nothing
// is registered yet. What is adopted already may be adopted again.
func (c *Cache) Adopt(mem []byte) error {
	if len(mem) == 0 {
		return c.errorf("adopting: %w", ErrEmpty)
	}
	c.changing.Lock()
	defer c.changing.Unlock()
	r := rangeOf(mem)
	var all []ranges.Range
	for _, o := range c.known() {
		if o.End < r.Start || r.End < o.Start {
			all = append(all, o)
			continue
		}
		r = ranges.Range{Start: min(r.Start, o.Start), End: max(r.End, o.End)}
	}
	c.know(append(all, r))
	return nil
}

// Invalidate ends every registration that overlaps mem, and its adoption: it is called
// before memory is unmapped, or given to somebody who might. Registrations that
// operations use end with those; the error wraps ErrInUse then, and the memory must
// stay until they have ended. It may be called for memory that was never adopted.
func (c *Cache) Invalidate(mem []byte) error {
	if len(mem) == 0 {
		return nil
	}
	c.changing.Lock()
	defer c.changing.Unlock()
	r := rangeOf(mem)
	c.disown(r)
	c.mu.Lock()
	end, used := c.ranges.Invalidate(r)
	c.mu.Unlock()
	if err := c.end(end); err != nil {
		return err
	}
	if used > 0 {
		return c.errorf("invalidating %d bytes at %#x: %d registrations: %w", len(mem), r.Start, used, ErrInUse)
	}
	return nil
}

// Close invalidates everything.
func (c *Cache) Close() error {
	c.changing.Lock()
	defer c.changing.Unlock()
	c.adopted.Store(nil)
	c.mu.Lock()
	end, used := c.ranges.Invalidate(ranges.Range{End: ^uintptr(0)})
	c.mu.Unlock()
	if err := c.end(end); err != nil {
		return err
	}
	if used > 0 {
		return c.errorf("closing: %d registrations: %w", used, ErrInUse)
	}
	return nil
}

func (c *Cache) known() []ranges.Range {
	if a := c.adopted.Load(); a != nil {
		return a.ranges
	}
	return nil
}

func (c *Cache) know(all []ranges.Range) {
	slices.SortFunc(all, func(a, b ranges.Range) int { return cmp.Compare(a.Start, b.Start) })
	a := &adopted{ranges: all}
	if len(all) > 0 {
		a.span = ranges.Range{Start: all[0].Start, End: all[len(all)-1].End}
	}
	c.adopted.Store(a)
}

// disown takes r out of what is adopted.
func (c *Cache) disown(r ranges.Range) {
	var all []ranges.Range
	for _, o := range c.known() {
		for _, rest := range [2]ranges.Range{{Start: o.Start, End: min(o.End, r.Start)}, {Start: max(o.Start, r.End), End: o.End}} {
			if rest.Start < rest.End {
				all = append(all, rest)
			}
		}
	}
	c.know(all)
}

// isFar tells most memory that is not adopted, at once.
func (c *Cache) isFar(r ranges.Range) bool {
	a := c.adopted.Load()
	return a == nil || r.Start < a.span.Start || r.End > a.span.End || r.Start == r.End
}

// isAdopted reports whether all of r is.
func (c *Cache) isAdopted(r ranges.Range) bool {
	all := c.known()
	behind, _ := slices.BinarySearchFunc(all, r.Start, func(o ranges.Range, start uintptr) int {
		if o.Start > start {
			return 1
		}
		return -1
	})
	return behind > 0 && r.Start < r.End && r.End <= all[behind-1].End
}
