package tcp

// A ring is a queue that grows to what it has once held and then stays.
type ring[T any] struct {
	items        []T // its length is 0 or a power of two
	first, count int
}

func (r *ring[T]) push(item T) {
	if r.count == len(r.items) {
		r.grow()
	}
	r.items[(r.first+r.count)&(len(r.items)-1)] = item
	r.count++
}

func (r *ring[T]) grow() {
	items := make([]T, max(8, 2*len(r.items)))
	for i := range r.count {
		items[i] = r.items[(r.first+i)&(len(r.items)-1)]
	}
	r.items, r.first = items, 0
}

// front returns the oldest item, which stays, or nil.
func (r *ring[T]) front() *T {
	if r.count == 0 {
		return nil
	}
	return &r.items[r.first]
}

// back returns the newest item, which stays, or nil.
func (r *ring[T]) back() *T {
	if r.count == 0 {
		return nil
	}
	return &r.items[(r.first+r.count-1)&(len(r.items)-1)]
}

// pop takes the oldest item out.
//
// Precondition: there is one.
func (r *ring[T]) pop() T {
	var zero T
	item := r.items[r.first]
	r.items[r.first] = zero
	r.first = (r.first + 1) & (len(r.items) - 1)
	r.count--
	return item
}
