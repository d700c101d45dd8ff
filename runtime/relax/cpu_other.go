//go:build !amd64 && !arm64

package relax

import "golang.org/x/sys/unix"

// CPU would tell the core that this is a spin loop.
func CPU() {}

// Yield lets another process that is ready run on this core, and comes back at once when
// there is none.
func Yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
