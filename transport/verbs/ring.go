//go:build cgo && linux

package verbs

// A ring is a queue that grows when it is told to and else allocates nothing.
type ring[T any] struct {
	items []T
	first int
	count int
}

// reserve makes room for n more than there could be before.
func (r *ring[T]) reserve(n int) {
	items := make([]T, len(r.items)+n)
	for i := range r.count {
		items[i] = r.items[(r.first+i)%len(r.items)]
	}
	r.items, r.first = items, 0
}

// push adds v behind the others.
//
// Precondition: there is room.
func (r *ring[T]) push(v T) {
	at := r.first + r.count
	if at >= len(r.items) { // a division costs more
		at -= len(r.items)
	}
	r.items[at] = v
	r.count++
}

// pop takes the first.
//
// Precondition: there is one.
func (r *ring[T]) pop() (v T) {
	var zero T
	v, r.items[r.first] = r.items[r.first], zero
	if r.first++; r.first == len(r.items) {
		r.first = 0
	}
	r.count--
	return v
}
