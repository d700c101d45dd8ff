package litmus

import (
	"cmp"
	"fmt"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/window"
)

// A memory is a window, accessed in one way. Elements are named by the rank that has them
// and the displacement. Its first error stays.
type memory interface {
	load(rank, disp int) int64
	store(rank, disp int, v int64)
	add(rank, disp int, v int64) (old int64)
	swap(rank, disp int, old, replacement int64) bool
	err() error
}

// A kind is a way to access a window, and what it promises.
type kind struct {
	name     string
	model    model
	coherent bool // the window
	access   func(w *window.Window[int64], comm *world.Comm) (memory, error)
}

var kinds = []kind{
	{"put and flush", sequential, false, flushed},
	{"atomic operations", sequential, false, atomics},
	{"coherent put and get", sequential, true, coherent},
	{"sync/atomic", sequential, true, synced},
	{"loads and stores", plainModel, true, plain},
	{"put, get and sync/atomic", sequential, true, mixed},
	{"put, get, loads and stores", plainModel, true, mixedPlain},
}

func kindNamed(name string) (kind, error) {
	for _, k := range kinds {
		if k.name == name {
			return k, nil
		}
	}
	return kind{}, fmt.Errorf("no kind of access is called %q", name)
}

// open makes a window of n elements a rank, and the memory. It is collective.
func (k kind) open(r *rank, n int) (*window.Window[int64], memory, error) {
	var options []window.Option
	if k.coherent {
		options = append(options, window.Coherent)
		if r.CacheLimit > 0 {
			options = append(options, window.CacheLimit(r.CacheLimit))
		}
		if r.FirstTouch {
			options = append(options, window.FirstTouch)
		}
	}
	w, err := window.Allocate[int64](r.ctx, r.comm, n, options...)
	if err != nil {
		return nil, nil, err
	}
	if err := w.Fence(r.ctx); err != nil {
		return nil, nil, err
	}
	m, err := k.access(w, r.comm)
	return w, m, err
}

// called is what memories by calls have in common: atomic operations.
type called struct {
	w     *window.Window[int64]
	word  [1]int64
	first error
}

func (c *called) note(err error) { c.first = cmp.Or(c.first, err) }
func (c *called) err() error     { return c.first }

func (c *called) add(rank, disp int, v int64) int64 {
	old, err := c.w.FetchAdd(rank, disp, v)
	c.note(err)
	return old
}

func (c *called) swap(rank, disp int, old, replacement int64) bool {
	found, err := c.w.CompareAndSwap(rank, disp, old, replacement)
	c.note(err)
	return found == old && err == nil
}

// flushMemory puts and gets. A Put is complete before anything else begins.
type flushMemory struct{ called }

func flushed(w *window.Window[int64], _ *world.Comm) (memory, error) {
	return &flushMemory{called{w: w}}, nil
}

func (m *flushMemory) load(rank, disp int) int64 {
	m.note(m.w.Get(rank, disp, m.word[:]))
	return m.word[0]
}

func (m *flushMemory) store(rank, disp int, v int64) {
	m.word[0] = v
	m.note(m.w.Put(rank, disp, m.word[:]))
	m.note(m.w.Flush(rank))
}

// atomicMemory uses nothing but atomic operations that bring a value, and so wait.
type atomicMemory struct{ called }

func atomics(w *window.Window[int64], _ *world.Comm) (memory, error) {
	return &atomicMemory{called{w: w}}, nil
}

func (m *atomicMemory) load(rank, disp int) int64 { return m.fetch(rank, disp, 0, window.NoOp) }

func (m *atomicMemory) store(rank, disp int, v int64) { m.fetch(rank, disp, v, window.Replace) }

func (m *atomicMemory) fetch(rank, disp int, v int64, op window.Op) int64 {
	old, err := m.w.FetchAndOp(rank, disp, v, op)
	m.note(err)
	return old
}
