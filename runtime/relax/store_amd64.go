//go:build !race

package relax

import "sync/atomic"

// Store stores v: whoever loads it sees what was stored before. Unlike an atomic
// store it does not wait until others can see v, as any store is a release on this
// processor; a load that must not overtake it needs a locked instruction between.
//
//go:noescape
func Store(word *atomic.Uint64, v uint64)
