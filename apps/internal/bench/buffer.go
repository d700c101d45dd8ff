package bench

import (
	"fmt"

	"github.com/golaunch/golaunch/runtime/arena"
)

// Buffer returns n elements of memory of the kind named, Arena or Heap, and what
// gives them back.
func Buffer[T any](a *arena.Arena, kind string, n int) (mem []T, free func() error, err error) {
	if kind == Heap {
		return make([]T, n), func() error { return nil }, nil
	}
	mem, err = arena.Alloc[T](a, n)
	if err != nil {
		return nil, nil, fmt.Errorf("buffer of %d elements: %w", n, err)
	}
	return mem, func() error { return arena.Free(a, mem) }, nil
}
