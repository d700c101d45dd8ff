package litmus

import (
	"runtime"
	"sync/atomic"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/window"
)

// Memories on a coherent window.

// coherentMemory puts and gets, and nothing else.
type coherentMemory struct{ called }

func coherent(w *window.Window[int64], _ *world.Comm) (memory, error) {
	return &coherentMemory{called{w: w}}, nil
}

func (m *coherentMemory) load(rank, disp int) int64 {
	m.note(m.w.Get(rank, disp, m.word[:]))
	return m.word[0]
}

func (m *coherentMemory) store(rank, disp int, v int64) {
	m.word[0] = v
	m.note(m.w.Put(rank, disp, m.word[:]))
}

// mapped is a window as a slice.
type mapped struct {
	all    []int64
	stride int
}

func mapOf(w *window.Window[int64]) (mapped, error) {
	all, err := w.Map()
	return mapped{all, w.Stride()}, err
}

func (m mapped) at(rank, disp int) *int64 { return &m.all[rank*m.stride+disp] }
func (m mapped) err() error               { return nil }

func (m mapped) add(rank, disp int, v int64) int64 { return atomic.AddInt64(m.at(rank, disp), v) - v }

func (m mapped) swap(rank, disp int, old, replacement int64) bool {
	return atomic.CompareAndSwapInt64(m.at(rank, disp), old, replacement)
}

// syncMemory uses sync/atomic.
type syncMemory struct{ mapped }

func synced(w *window.Window[int64], _ *world.Comm) (memory, error) {
	m, err := mapOf(w)
	return syncMemory{m}, err
}

func (m syncMemory) load(rank, disp int) int64     { return atomic.LoadInt64(m.at(rank, disp)) }
func (m syncMemory) store(rank, disp int, v int64) { atomic.StoreInt64(m.at(rank, disp), v) }

// plainMemory loads and stores. Go's memory model promises nothing to ranks that race so;
// what is tested is that the window adds nothing to what the machine does. The compiler does
// not see through the interface, and so moves nothing.
type plainMemory struct{ mapped }

func plain(w *window.Window[int64], _ *world.Comm) (memory, error) {
	m, err := mapOf(w)
	return plainMemory{m}, err
}

func (m plainMemory) load(rank, disp int) int64     { return *m.at(rank, disp) }
func (m plainMemory) store(rank, disp int, v int64) { *m.at(rank, disp) = v }

// plainModel is what the machine does with plain loads and stores.
var plainModel = map[bool]model{true: buffered, false: located}[runtime.GOARCH == "amd64"]

// mixed is by calls at half of the ranks, by sync/atomic at the others.
func mixed(w *window.Window[int64], comm *world.Comm) (memory, error) {
	if comm.Rank()%2 == 0 {
		return coherent(w, comm)
	}
	return synced(w, comm)
}

// mixedPlain is by calls at half of the ranks, by loads and stores at the others.
func mixedPlain(w *window.Window[int64], comm *world.Comm) (memory, error) {
	if comm.Rank()%2 == 0 {
		return coherent(w, comm)
	}
	return plain(w, comm)
}
