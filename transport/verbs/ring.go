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
	r.items[(r.first+r.count)%len(r.items)] = v
	r.count++
}

// pop takes the first.
//
// Precondition: there is one.
func (r *ring[T]) pop() (v T) {
	var zero T
	v, r.items[r.first] = r.items[r.first], zero
	r.first = (r.first + 1) % len(r.items)
	r.count--
	return v
}
