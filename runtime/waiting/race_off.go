//go:build !race

package waiting

// Synchronize must be called when a wait has ended without Until. It does
// something in race builds only.
func Synchronize() {}

// Published must be called before the store for which others wait. It does
// something in race builds only, where it orders the store for the detector.
func Published() {}
