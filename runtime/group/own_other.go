//go:build !amd64

package group

import "sync/atomic"

func own(*atomic.Uint64) {}
