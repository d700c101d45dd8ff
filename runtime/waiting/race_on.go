//go:build race

package waiting

import "sync/atomic"

// The race detector does not see mapped memory, so to it nothing that ranks of
// one process do is ever ordered. Each publication and each end of a wait
// therefore also touches this word of ordinary memory.
var witness atomic.Uint64

// Synchronize must be called when a wait has ended without Until.
func Synchronize() { witness.Add(1) }

// Published must be called before the store for which others wait. It does
// something in race builds only, where it orders the store for the detector.
func Published() { witness.Add(1) }
