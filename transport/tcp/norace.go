//go:build !race

package tcp

// ordered does nothing: only the race detector needs telling.
func ordered() {}
