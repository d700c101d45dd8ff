//go:build !race

package shm

import "sync/atomic"

// storeRelease stores v: whoever loads it sees what was stored before. Unlike
// Store it does not wait until others can see v, as any store is a release on this
// processor; a load that must not overtake it needs a locked instruction between.
//
//go:noescape
func storeRelease(word *atomic.Uint64, v uint64)
