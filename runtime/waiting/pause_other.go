//go:build !amd64 && !arm64

package waiting

func pause() {}
