//go:build !amd64

package shm

import "sync/atomic"

// storeRelease stores v: whoever loads it sees what was stored before.
func storeRelease(word *atomic.Uint64, v uint64) { word.Store(v) }
