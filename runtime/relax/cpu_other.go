//go:build !amd64 && !arm64

package relax

// CPU would tell the core that this is a spin loop.
func CPU() {}
