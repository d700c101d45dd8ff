// Package futex sleeps on a word of memory that processes share, and wakes who does.
package futex

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// FUTEX_WAIT and FUTEX_WAKE without FUTEX_PRIVATE_FLAG: the word is in memory
// shared between processes.
const (
	waitOp = 0
	wakeOp = 1
)

// Wait sleeps while *word == seen. Spurious returns are allowed: callers
// check their condition again. It uses Syscall, not RawSyscall, so that the
// scheduler can hand the P to other goroutines while the thread sleeps.
func Wait(word *atomic.Uint32, seen uint32) {
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), waitOp, uintptr(seen), 0, 0, 0)
}

// Wake wakes at most one sleeper. The call never blocks, so it is made
// without telling the scheduler.
func Wake(word *atomic.Uint32) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), wakeOp, 1, 0, 0, 0)
}
