//go:build amd64 || arm64

package waiting

// pause tells the core that this is a spin loop (PAUSE, YIELD).
func pause()
