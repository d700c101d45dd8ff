package main

import (
	"context"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/window"
)

// allocate makes a window of the kind that a mode has.
func allocate(ctx context.Context, comm *world.Comm, name string, n int, mode string) (*window.Window[float64], error) {
	return window.Allocate[float64](ctx, comm, n, window.Name(name))
}
