// Package stride guesses from a rank's misses which pages it will need next: those
// ahead of a sequential or strided walk through the window. It is a state machine
// without memory, clock or wire; who feeds it fetches what it says.
//
// A hit is not seen. So once pages ahead are fetched, the next miss of a walk that goes
// on is the first page that was not, and that is what a walk is recognised by: each
// time, twice as many pages are fetched. Several walks of a rank may alternate, as
// those through the rows of a stencil do.
//
// What is fetched in vain is bounded: a walk that ends has at most [Most] pages ahead of
// it, and at most as many as it has used. Misses in no order fetch next to nothing.
package stride

// Page numbers a page of the window.
type Page = uint32

const (
	// Most is how many pages are fetched ahead at a time.
	Most = 64
	// Widest is the largest stride that is recognised, in pages.
	Widest = 64
	walks  = 8
)

// Ahead says which pages to fetch: First, First+Stride, and so on, N of them. They lie
// within the window.
type Ahead struct {
	First  Page
	Stride int
	N      int
}

// Detector watches one rank. The zero value is ready. A Detector belongs to one
// goroutine at a time.
type Detector struct {
	// Limit is how many pages are fetched ahead at a time, if not Most: what exceeds the
	// room for them would be fetched in vain. 0: Most.
	Limit int

	walks [walks]walk
	now   uint32 // counts misses
}

// walk is a sequence of misses.
//
//	Invariant: stride != 0 => next = last + (ahead+1)*stride
type walk struct {
	last, next int64 // the latest miss, and the one that would continue the walk
	stride     int64 // 0: only one miss so far
	ahead      int64 // pages that were fetched behind last; 0: the stride is only a guess
	used       uint32
}

// Miss tells of a miss in a window of so many pages and returns what to fetch: N is 0
// if there is nothing to guess.
func (d *Detector) Miss(page, pages Page) Ahead {
	d.now++
	p := int64(page)
	if w := d.find(func(w *walk) bool { return w.stride != 0 && w.next == p }); w != nil {
		return d.goOn(w, p, pages)
	}
	if w := d.find(func(w *walk) bool { return w.covers(p) }); w != nil {
		w.used = d.now // it was fetched, and taken away: the walk goes on behind it
		return Ahead{}
	}
	if w := d.find(func(w *walk) bool { return w.ahead == 0 && w.isNear(p) }); w != nil {
		return d.guess(w, p, pages)
	}
	*d.oldest() = walk{last: p, used: d.now}
	return Ahead{}
}

// find is the walk used last of those that are wanted.
func (d *Detector) find(wanted func(*walk) bool) (found *walk) {
	for i := range d.walks {
		if w := &d.walks[i]; w.used != 0 && wanted(w) && (found == nil || w.used > found.used) {
			found = w
		}
	}
	return found
}

func (d *Detector) oldest() *walk {
	oldest := &d.walks[0]
	for i := range d.walks {
		if w := &d.walks[i]; w.used < oldest.used {
			oldest = w
		}
	}
	return oldest
}

// covers tells whether p was fetched ahead.
func (w *walk) covers(p int64) bool {
	if w.stride == 0 {
		return p == w.last
	}
	steps := (p - w.last) / w.stride
	return (p-w.last)%w.stride == 0 && steps >= 0 && steps <= w.ahead
}

func (w *walk) isNear(p int64) bool { return max(p-w.last, w.last-p) <= Widest }

// guess takes the step to a near page for the stride. A single page forwards or
// backwards is believed at once, another stride when it comes again.
func (d *Detector) guess(w *walk, p int64, pages Page) Ahead {
	stride := p - w.last
	*w = walk{last: p, stride: stride, next: p + stride, used: d.now}
	if stride != 1 && stride != -1 {
		return Ahead{}
	}
	return d.goOn(w, p, pages)
}

func (d *Detector) most() int64 {
	if d.Limit > 0 {
		return int64(min(d.Limit, Most))
	}
	return Most
}

// goOn fetches twice as much as the last time.
func (d *Detector) goOn(w *walk, p int64, pages Page) Ahead {
	w.ahead = min(max(2*w.ahead, 2), d.most())
	room := (int64(pages) - 1 - p) / w.stride
	if w.stride < 0 {
		room = p / -w.stride
	}
	w.ahead = min(w.ahead, max(room, 0))
	w.last, w.next, w.used = p, p+(w.ahead+1)*w.stride, d.now
	if w.ahead == 0 { // the end of the window
		return Ahead{}
	}
	return Ahead{First: Page(p + w.stride), Stride: int(w.stride), N: int(w.ahead)}
}
