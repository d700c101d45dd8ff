//go:build !amd64 || race

package relax

import "sync/atomic"

// Store stores v: whoever loads it sees what was stored before, the race detector
// as well, which knows nothing of assembly.
func Store(word *atomic.Uint64, v uint64) { word.Store(v) }
