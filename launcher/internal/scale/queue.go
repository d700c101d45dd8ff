package scale

// An Instant is a point in time, and a difference of two, in nanoseconds.
type Instant int64

// The units of Instant.
const (
	Microsecond Instant = 1e3
	Millisecond Instant = 1e6
	Second      Instant = 1e9
)

// Seconds is the time in seconds.
func (i Instant) Seconds() float64 { return float64(i) / float64(Second) }

// A Queue holds what will happen. Its zero value is empty.
//
// Invariant: a binary heap by time, then by the order of Add: what happens at the same
// time happens in that order.
type Queue[E any] struct {
	heap  []due[E]
	added uint64
}

type due[E any] struct {
	at    Instant
	order uint64
	event E
}

func (a *due[E]) before(b *due[E]) bool {
	return a.at < b.at || a.at == b.at && a.order < b.order
}

// Add has an event happen at a time.
func (q *Queue[E]) Add(at Instant, event E) {
	q.added++
	q.heap = append(q.heap, due[E]{at, q.added, event})
	for i := len(q.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !q.heap[i].before(&q.heap[up]) {
			return
		}
		q.heap[i], q.heap[up] = q.heap[up], q.heap[i]
		i = up
	}
}

// Next takes the next event; false: there is none.
func (q *Queue[E]) Next() (at Instant, event E, ok bool) {
	if len(q.heap) == 0 {
		return 0, event, false
	}
	first, last := q.heap[0], len(q.heap)-1
	q.heap[0] = q.heap[last]
	q.heap = q.heap[:last]
	q.sink()
	return first.at, first.event, true
}

// sink restores the order below the first.
func (q *Queue[E]) sink() {
	for i := 0; ; {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(q.heap); c++ {
			if q.heap[c].before(&q.heap[least]) {
				least = c
			}
		}
		if least == i {
			return
		}
		q.heap[i], q.heap[least] = q.heap[least], q.heap[i]
		i = least
	}
}
