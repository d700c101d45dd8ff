//go:build !race

package shm

// ordered does nothing: only the race detector needs telling.
func ordered() {}
