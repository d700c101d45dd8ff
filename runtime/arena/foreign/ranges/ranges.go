// Package ranges is which ranges of addresses are registered, who uses them, and
// which to give up first. It is pure: what is registered, and how, is its caller's.
//
// No range of the index contains another one: what contains others replaces them.
// So the ranges are in the order of their starts and of their ends at once, and the
// last one that starts at or before an address is the one that reaches farthest of
// those that do: a sorted slice and one binary search are the whole interval tree.
// Adding moves up to a few thousand words, which is nothing beside a registration.
package ranges

import "slices"

// A Range is the addresses from Start to End, without End. It is not empty.
type Range struct{ Start, End uintptr }

func (r Range) contains(o Range) bool { return r.Start <= o.Start && o.End <= r.End }
func (r Range) overlaps(o Range) bool { return r.Start < o.End && o.Start < r.End }

// Bytes is its length.
func (r Range) Bytes() int64 { return int64(r.End - r.Start) }

// An Entry is a range that is registered.
type Entry[V any] struct {
	Range
	Value V

	users        int
	out          bool // of the index: nobody finds it any more
	older, newer *Entry[V]
}

// A Cache is the entries. The zero Cache is empty. It takes no lock.
//
// Invariants:
//
//	starts and ends of the index increase strictly
//	an entry is idle exactly when it is in the index and has no users
//	an entry out of the index has users, or was returned to be ended, once
//	idle entries are listed in the order in which their last user left
type Cache[V any] struct {
	starts         []uintptr // of the index, beside it: a search reads nothing else
	index          []*Entry[V]
	oldest, newest *Entry[V] // idle ones
	bytes          int64     // of all entries that were not ended
	idle           int64     // of those that are idle
}

// Find returns an entry that contains r, for one more user; nil if there is none.
func (c *Cache[V]) Find(r Range) *Entry[V] {
	from, to := 0, len(c.starts)
	for from < to {
		if mid := int(uint(from+to) >> 1); c.starts[mid] <= r.Start {
			from = mid + 1
		} else {
			to = mid
		}
	}
	if from == 0 || r.End > c.index[from-1].End {
		return nil
	}
	e := c.index[from-1]
	if e.users++; e.users == 1 {
		c.unlist(e)
	}
	return e
}

// Add makes an entry, with one user. No entry contains r. Those that r contains are
// found no more; the idle ones among them are to be ended.
func (c *Cache[V]) Add(r Range, v V) (e *Entry[V], end []*Entry[V]) {
	from, to := c.between(func(e *Entry[V]) bool { return e.Start < r.Start }, func(e *Entry[V]) bool { return e.End <= r.End })
	end = c.takeOut(from, to)
	e = &Entry[V]{Range: r, Value: v, users: 1}
	c.index = slices.Insert(c.index, from, e)
	c.starts = slices.Insert(c.starts, from, r.Start)
	c.bytes += r.Bytes()
	return e, end
}

// Release ends one use of e. true: it is to be ended, having left the index before.
func (c *Cache[V]) Release(e *Entry[V]) bool {
	if e.users--; e.users > 0 {
		return false
	}
	if e.out {
		c.bytes -= e.Bytes()
		return true
	}
	c.list(e)
	return false
}

// Evict returns the idle entry that was not used for the longest time, to be ended;
// nil if none is idle.
func (c *Cache[V]) Evict() *Entry[V] {
	e := c.oldest
	if e == nil {
		return nil
	}
	at, _ := slices.BinarySearch(c.starts, e.Start)
	c.takeOut(at, at+1)
	return e
}

// Invalidate has no entry found any more that overlaps r. The idle ones are to be
// ended; used says how many have users yet, and are to be ended when those release
// them.
func (c *Cache[V]) Invalidate(r Range) (end []*Entry[V], used int) {
	from, to := c.between(func(e *Entry[V]) bool { return e.End <= r.Start }, func(e *Entry[V]) bool { return e.Start < r.End })
	end = c.takeOut(from, to)
	return end, to - from - len(end)
}

// Bytes is what the entries hold that were not ended, and how much of that is idle.
// What overlaps counts twice, as it is registered twice.
func (c *Cache[V]) Bytes() (all, idle int64) { return c.bytes, c.idle }

// between returns the part of the index behind those entries that are before and
// then as long as entries are within. Both are true of a first part of what they are
// asked about.
func (c *Cache[V]) between(before, within func(*Entry[V]) bool) (from, to int) {
	from, _ = slices.BinarySearchFunc(c.index, before, first[V])
	n, _ := slices.BinarySearchFunc(c.index[from:], within, first[V])
	return from, from + n
}

// first has a binary search find the first entry of which is is not true.
func first[V any](e *Entry[V], is func(*Entry[V]) bool) int {
	if is(e) {
		return -1
	}
	return 1
}

// takeOut takes a part out of the index and returns those of it that are idle.
func (c *Cache[V]) takeOut(from, to int) (end []*Entry[V]) {
	for _, e := range c.index[from:to] {
		e.out = true
		if e.users == 0 {
			c.unlist(e)
			c.bytes -= e.Bytes()
			end = append(end, e)
		}
	}
	c.index = slices.Delete(c.index, from, to)
	c.starts = slices.Delete(c.starts, from, to)
	return end
}

// list makes e the newest idle entry.
func (c *Cache[V]) list(e *Entry[V]) {
	c.idle += e.Bytes()
	e.older, e.newer = c.newest, nil
	if c.newest == nil {
		c.oldest = e
	} else {
		c.newest.newer = e
	}
	c.newest = e
}

func (c *Cache[V]) unlist(e *Entry[V]) {
	c.idle -= e.Bytes()
	if e.older == nil {
		c.oldest = e.newer
	} else {
		e.older.newer = e.newer
	}
	if e.newer == nil {
		c.newest = e.older
	} else {
		e.newer.older = e.older
	}
	e.older, e.newer = nil, nil
}
