package window

import (
	"errors"
	"fmt"
	"strings"

	"github.com/golaunch/golaunch/window/pager"
	"github.com/golaunch/golaunch/window/pager/line"
)

// Map returns a coherent window as one slice: element i of rank r's part is element
// r*Stride()+i. Loads, stores and operations of sync/atomic on it reach every rank's part; one
// that finds a page absent, or may not write it, waits until this host has it. While it
// waits it holds its thread and its P, as a slow instruction would.
//
// What sync/atomic does is sequentially consistent between all ranks, and with the window's
// operations. Plain loads and stores have Go's memory model: ranks that race with them are
// in error. Between the parts there may be elements that belong to nobody.
//
// A system call that is given a slice of it may fail with EFAULT where the process has no
// right to more than UFFD_USER_MODE_ONLY (docs/coherence.md). Programs must not pass it to
// what pins memory: io_uring, RDMA, vmsplice. It must not be used after Free, nor after the
// rank has left.
//
// No epoch is needed, and none is kept. It is an error if the window is not coherent, has
// been freed, or if this process may not watch pages at all: then operations are carried
// out by the pager, and cost as much as a system call and two changes of process.
func (w *Window[T]) Map() ([]T, error) {
	err := w.mayCache()
	if err == nil {
		err = w.coherent.view.Unmapped
	}
	if err != nil {
		return nil, w.errorf("Map: %w", err)
	}
	all := newPart(w.coherent.view.Memory, (len(w.parts)-1)*w.Stride()+w.sizes[len(w.parts)-1])
	return elements[T](&all), nil
}

// Stride is by how many elements the parts are apart in Map's slice; 0 if the window is
// not coherent.
func (c *core) Stride() int {
	if c.coherent == nil {
		return 0
	}
	return c.coherent.stride / c.kind.Size
}

// Access is what pages are fetched for.
type Access = line.Mode

const (
	Reading Access = pager.PrefetchRead
	Writing Access = pager.PrefetchWrite
)

// Prefetch begins to bring the elements first, first+1, ... of Map's slice to this host, to
// be read or written, and does not wait. It is advice: another host may take them away
// again, and where a cache limit would be exceeded nothing is brought.
func (c *core) Prefetch(first, n int, access Access) error {
	if access != Reading && access != Writing {
		return c.errorf("Prefetch: access %d: want Reading or Writing", access)
	}
	return c.advise("Prefetch", first, n, access)
}

// Evict gives up what this host has cached of the elements first, first+1, ... of Map's
// slice: its memory is free, and the next access fetches them again. Pages whose home this
// host is, as it is of its ranks' parts, and what was fetched a moment ago stay.
func (c *core) Evict(first, n int) error { return c.advise("Evict", first, n, pager.Evict) }

func (c *core) advise(op string, first, n int, mode line.Mode) error {
	err := c.mayCache()
	if err == nil {
		all := len(c.parts) * c.coherent.stride / c.kind.Size
		if first < 0 || n < 0 || n > all-first {
			err = fmt.Errorf("the window has %d", all)
		}
	}
	if err == nil && n > 0 {
		err = c.coherent.view.Advise(first*c.kind.Size, (first+n)*c.kind.Size, mode)
	}
	if err != nil {
		return c.errorf("%s of elements %d to %d: %w", op, first, first+n, err)
	}
	return nil
}

// Echo waits for a page's content from the pager of another host, which is then forgotten.
// It is for measuring what a miss costs beside the way there and back.
func (c *core) Echo() error {
	err := c.mayCache()
	if err == nil {
		err = c.coherent.view.Echo()
	}
	if err != nil {
		return c.errorf("Echo: %w", err)
	}
	return nil
}

func (c *core) mayCache() error {
	switch {
	case c.coherent == nil:
		return errors.New("the window is not coherent")
	case c.coherent.view == nil:
		return errFreed
	}
	return nil
}

// Figures are what happened to the pages of a coherent window on this host since it was
// allocated, caused by any of the host's ranks.
type Figures struct {
	line.Counts
	// Resident is how many bytes of memory the host's pages take now, those included that
	// are stored here.
	Resident uint64
	// Hot are the pages that other hosts have taken away most often, those first.
	Hot []HotPage
}

// A HotPage is a page that several hosts want, and the elements in it.
type HotPage struct {
	Rank, Disp, N int // the first of its elements is element Disp of the rank's part
	Taken         int // how often it was taken away from this host, or made read-only
	// FalseSharing says that hosts want the page for different bytes of it: they would not
	// meet if these were on pages of their own. Only the page's home can tell.
	FalseSharing bool
}

// String is a heat map of the pages that hosts take from each other: a line each, with a bar.
func (f Figures) String() string {
	var b strings.Builder
	for _, h := range f.Hot {
		fmt.Fprintf(&b, "rank %d, elements %d to %d: taken %d times %s", h.Rank, h.Disp, h.Disp+h.N-1, h.Taken, strings.Repeat("#", max(1, 40*h.Taken/f.Hot[0].Taken)))
		if h.FalseSharing {
			b.WriteString(" (false sharing: hosts use different elements of it)")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Coherence returns the figures of this host.
func (c *core) Coherence() (f Figures, err error) {
	if err = c.mayCache(); err != nil {
		return f, c.errorf("Coherence: %w", err)
	}
	r, err := c.coherent.view.Report()
	if err != nil {
		return f, c.errorf("Coherence: %w", err)
	}
	f.Counts, f.Resident = r.Counts, r.Resident
	for _, h := range r.Hot {
		f.Hot = append(f.Hot, c.hotPage(h))
	}
	return f, nil
}

func (c *core) hotPage(h line.Heat) HotPage {
	page := len(c.parts) * c.coherent.stride / c.coherent.pages
	from := int(h.Page) * page % c.coherent.stride
	size := c.kind.Size
	return HotPage{Rank: int(h.Page) * page / c.coherent.stride, Disp: from / size, N: (page + size - 1) / size, Taken: int(h.Taken), FalseSharing: h.False}
}
