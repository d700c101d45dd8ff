//go:build !amd64 || race

package shm

import "sync/atomic"

// storeRelease stores v: whoever loads it sees what was stored before, the race detector
// as well, which knows nothing of assembly.
func storeRelease(word *atomic.Uint64, v uint64) { word.Store(v) }
