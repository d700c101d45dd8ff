package matching

// none is the index of no node.
const none = -1

// A queue holds nodes in the order in which they came.
type queue struct {
	pattern     Envelope
	first, last int32 // nodes; a slot whose first is none holds no queue
}

// queues is a hash table of the queues that are not empty, with linear probing.
//
// Invariants: len(slots) is a power of two, at least twice used; between a
// queue's home slot and its own no slot is free.
type queues struct {
	slots []queue
	used  int
}

const fewestSlots = 16

// find returns the slot of a pattern's queue, or none.
func (q *queues) find(p Envelope) int {
	if q.used == 0 {
		return none
	}
	mask := len(q.slots) - 1
	for i := int(p.hash()) & mask; q.slots[i].first != none; i = (i + 1) & mask {
		if q.slots[i].pattern == p {
			return i
		}
	}
	return none
}

// make returns the slot of a pattern's queue, which may be new: its first and last
// are none then, and must not stay so.
func (q *queues) make(p Envelope) int {
	if 2*(q.used+1) > len(q.slots) {
		q.grow()
	}
	mask := len(q.slots) - 1
	i := int(p.hash()) & mask
	for ; q.slots[i].first != none; i = (i + 1) & mask {
		if q.slots[i].pattern == p {
			return i
		}
	}
	q.slots[i] = queue{pattern: p, first: none, last: none}
	q.used++
	return i
}

func (q *queues) grow() {
	old := q.slots
	q.slots = make([]queue, max(fewestSlots, 2*len(old)))
	for i := range q.slots {
		q.slots[i].first = none
	}
	for _, one := range old {
		if one.first != none {
			q.slots[q.free(one.pattern)] = one
		}
	}
}

// free is the slot where a pattern that is not in the table goes.
func (q *queues) free(p Envelope) int {
	mask := len(q.slots) - 1
	i := int(p.hash()) & mask
	for q.slots[i].first != none {
		i = (i + 1) & mask
	}
	return i
}

// remove empties slot i and moves the queues behind it up, so that none is cut off
// from its home.
func (q *queues) remove(i int) {
	mask := len(q.slots) - 1
	q.used--
	hole := i
	for j := (i + 1) & mask; q.slots[j].first != none; j = (j + 1) & mask {
		home := int(q.slots[j].pattern.hash()) & mask
		if (j-home)&mask >= (j-hole)&mask {
			q.slots[hole] = q.slots[j]
			hole = j
		}
	}
	q.slots[hole].first = none
}
