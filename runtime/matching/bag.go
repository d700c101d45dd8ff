package matching

// A bag holds values, each in one queue or in several at once.
//
// Invariant: lanes is the number of queues that a value may be in; links[n*lanes+l]
// are the neighbours of node n in its queue l.
type bag[T any] struct {
	lanes  int
	nodes  []node[T]
	links  []link
	free   int32 // first node that is not in use, linked by next of lane 0; none
	queues queues
}

type node[T any] struct {
	value    T
	envelope Envelope
	order    uint64 // of arrival or posting; 0 when not in use
	uses     uint32 // how often the node was taken: tells old tickets from new ones
}

type link struct{ before, next int32 }

func newBag[T any](lanes int) bag[T] { return bag[T]{lanes: lanes, free: none} }

// add takes a node for a value. The caller links it.
func (b *bag[T]) add(e Envelope, order uint64, value T) int32 {
	n := b.free
	if n == none {
		n = int32(len(b.nodes))
		b.nodes = append(b.nodes, node[T]{})
		b.links = append(b.links, make([]link, b.lanes)...)
	} else {
		b.free = b.links[int(n)*b.lanes].next
	}
	at := &b.nodes[n]
	at.value, at.envelope, at.order = value, e, order
	at.uses++
	return n
}

// link puts node n at the end of a pattern's queue.
func (b *bag[T]) link(n int32, lane int, p Envelope) {
	q := &b.queues.slots[b.queues.make(p)]
	own := &b.links[int(n)*b.lanes+lane]
	own.before, own.next = q.last, none
	if q.last == none {
		q.first = n
	} else {
		b.links[int(q.last)*b.lanes+lane].next = n
	}
	q.last = n
}

// unlink takes node n out of a pattern's queue.
func (b *bag[T]) unlink(n int32, lane int, p Envelope) {
	slot := b.queues.find(p)
	q := &b.queues.slots[slot]
	own := b.links[int(n)*b.lanes+lane]
	if q.first == n && q.last == n {
		b.queues.remove(slot)
		return
	}
	if own.before == none {
		q.first = own.next
	} else {
		b.links[int(own.before)*b.lanes+lane].next = own.next
	}
	if own.next == none {
		q.last = own.before
	} else {
		b.links[int(own.next)*b.lanes+lane].before = own.before
	}
}

// first is the node that a pattern's queue begins with, or none.
func (b *bag[T]) first(p Envelope) int32 {
	slot := b.queues.find(p)
	if slot == none {
		return none
	}
	return b.queues.slots[slot].first
}

// drop gives an unlinked node back and returns what it held.
func (b *bag[T]) drop(n int32) (T, Envelope) {
	at := &b.nodes[n]
	value, e := at.value, at.envelope
	var zero T
	at.value, at.order = zero, 0
	b.links[int(n)*b.lanes].next = b.free
	b.free = n
	return value, e
}

// A Ticket names a receive or a message as long as it is kept. The zero Ticket
// names none.
type Ticket uint64

func (b *bag[T]) ticket(n int32) Ticket { return Ticket(b.nodes[n].uses)<<32 | Ticket(n+1) }

// named is the node that a ticket names, or none when it is no longer kept.
func (b *bag[T]) named(t Ticket) int32 {
	n := int32(uint32(t)) - 1
	if n < 0 || int(n) >= len(b.nodes) || b.nodes[n].order == 0 || b.nodes[n].uses != uint32(t>>32) {
		return none
	}
	return n
}
