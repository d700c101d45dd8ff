//go:build !amd64 || race

package reduce

// Under the race detector the Go loops run, because it does not see what assembly reads and writes.

const (
	vectorBytes = 32
	hasVectors  = false
)

func vector(Kind, Op, *byte, *byte, *byte, *byte, int, bool) bool { return false }
