package process

import (
	"time"

	"github.com/golaunch/golaunch/window/coherence"
)

// holdTime is how long a page stays that somebody has waited for: long enough for the
// thread to be scheduled and to come to its access.
const holdTime = 100 * time.Microsecond

// A hold ends at a time of the pager's.
type hold struct {
	until int64
	space *space
	page  coherence.Page
}

// holds end in the order in which they began: all are equally long.
type holds struct {
	queue []hold
	first int
}

func (h *holds) push(x hold) {
	if h.first > 0 && len(h.queue) == cap(h.queue) {
		h.queue = h.queue[:copy(h.queue, h.queue[h.first:])]
		h.first = 0
	}
	h.queue = append(h.queue, x)
}

// next is when the first one ends; false: there is none.
func (h *holds) next() (int64, bool) {
	if h.first == len(h.queue) {
		return 0, false
	}
	return h.queue[h.first].until, true
}

// pop takes the first one if it has ended.
func (h *holds) pop(now int64) (x hold, ok bool) {
	if until, some := h.next(); !some || until > now {
		return hold{}, false
	}
	x = h.queue[h.first]
	h.queue[h.first] = hold{}
	if h.first++; h.first == len(h.queue) {
		h.queue, h.first = h.queue[:0], 0
	}
	return x, true
}
