package process

import (
	"github.com/golaunch/golaunch/window/coherence"
	"github.com/golaunch/golaunch/window/pager/line"
)

// A waiter is somebody who waits for a page of a space: a thread that has faulted in a
// view, a request, or a prefetch, which waits for nothing but whose view is to have the
// page.
type waiter struct {
	next    *waiter
	view    *view
	write   bool
	fault   bool
	request *request // nil unless it is one's
}

// waiters are those of a space, by page, the latest first.
//
//	Invariant: somebody waits for page p  =>  a Wake of p is still to come
type waiters struct {
	of    map[coherence.Page]*waiter
	spare *waiter
}

func newWaiters() waiters { return waiters{of: map[coherence.Page]*waiter{}} }

// add enters a waiter. A fault that is told of again is entered once.
func (w *waiters) add(p coherence.Page, x waiter) {
	if x.fault || x.request == nil {
		for o := w.of[p]; o != nil; o = o.next {
			if o.view == x.view && o.write == x.write && o.fault == x.fault && o.request == nil {
				return
			}
		}
	}
	n := w.spare
	if n == nil {
		n = new(waiter)
	} else {
		w.spare = n.next
	}
	*n = x
	n.next = w.of[p]
	w.of[p] = n
}

// take removes and returns those of a page; each goes back with drop.
func (w *waiters) take(p coherence.Page) *waiter {
	first := w.of[p]
	if first != nil {
		delete(w.of, p)
	}
	return first
}

// drop gives one back, and returns the next one.
func (w *waiters) drop(x *waiter) (next *waiter) {
	next = x.next
	*x = waiter{next: w.spare}
	w.spare = x
	return next
}

// forget removes everybody who waits in a view.
func (w *waiters) forget(v *view) {
	for p, x := range w.of {
		var kept *waiter
		for x != nil {
			if x.view == v {
				x = w.drop(x)
				continue
			}
			next := x.next
			x.next, kept, x = kept, x, next
		}
		if w.of[p] = kept; kept == nil {
			delete(w.of, p)
		}
	}
}

// writer is a view of which somebody waits to write the page, or else to read it; nil: there
// is none.
func (w *waiters) writer(p coherence.Page) *view {
	var reader *view
	for x := w.of[p]; x != nil; x = x.next {
		if x.write {
			return x.view
		}
		reader = x.view
	}
	return reader
}

// A request is a rank's Want that is not answered yet.
type request struct {
	member *member
	id     uint32
	left   int         // pages that it waits for
	access *line.Frame // what to do when they are there; nil: the rank does it
	space  *space
}
