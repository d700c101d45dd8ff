package main

import (
	"fmt"

	"github.com/golaunch/golaunch/window"
)

// number is what arrays are made of, and word how many bytes it has.
type number interface{ int64 | float64 }

const word = 8

// An array is memory of all ranks, in parts of the same length: a plain window in
// mode rma, a coherent one in the others.
type array[T number] struct {
	*job
	win    *window.Window[T]
	whole  []T // in mode loads: all parts
	stride int // elements from one part to the next
	each   int
	moved  traffic
}

// newArray makes one with each elements a rank. It is collective.
func newArray[T number](j *job, name string, each int) (*array[T], error) {
	a := &array[T]{job: j, each: each}
	var err error
	if a.win, err = allocate[T](j, name, each); err != nil {
		return nil, err
	}
	a.stride = a.win.Stride()
	if j.mode == loads {
		if a.whole, err = a.win.Map(); err != nil {
			return nil, err
		}
	}
	j.arrays = append(j.arrays, a)
	return a, a.fence()
}

// part is the memory of a rank's part: in mode loads of any rank, in mode rma of
// this one.
func (a *array[T]) part(rank int) []T {
	if a.whole != nil {
		return a.whole[rank*a.stride:][:a.each:a.each]
	}
	return a.win.Local()
}

// get copies elements of a rank's part to dst.
func (a *array[T]) get(rank, disp int, dst []T) error {
	a.count(rank, len(dst))
	return a.win.Get(rank, disp, dst)
}

// expect says that elements of a rank's part will be read or written, so that their pages are
// here by then.
func (a *array[T]) expect(rank, disp, n int, access window.Access) error {
	return a.win.Prefetch(rank*a.stride+disp, n, access)
}

// put copies src to elements of a rank's part.
func (a *array[T]) put(rank, disp int, src []T) error {
	a.count(rank, len(src))
	return a.win.Put(rank, disp, src)
}

// add adds src to elements of a rank's part, each of them atomically.
func (a *array[T]) add(rank, disp int, src []T) error {
	a.count(rank, len(src))
	return a.win.Accumulate(rank, disp, src, window.Sum)
}

func (a *array[T]) count(rank, n int) {
	if rank != a.me() {
		a.moved.Operations++
		a.moved.Bytes += int64(n) * word
	}
}

// fence waits for all ranks, and everything stored before it is seen behind it.
func (a *array[T]) fence() error { return a.win.Fence(a.ctx) }

func (a *array[T]) free() error { return a.win.Free(a.ctx) }

// read copies elements of a rank's part to dst as the mode has it: it is for
// collecting a result.
func (a *array[T]) read(rank, disp int, dst []T) error {
	if a.whole != nil {
		copy(dst, a.part(rank)[disp:])
		return nil
	}
	return a.win.Get(rank, disp, dst)
}

// differ is the error for a result that is not the serial one.
func (j *job) differ(what string, at int, got, want any) error {
	return fmt.Errorf("verify: %s %d is %v, not the serial %v", what, at, got, want)
}
