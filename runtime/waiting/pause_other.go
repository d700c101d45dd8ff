//go:build !amd64 && !arm64

package waiting

// Pause would tell the core that this is a spin loop.
func Pause() {}
