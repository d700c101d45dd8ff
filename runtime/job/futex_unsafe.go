package job

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// FUTEX_WAIT and FUTEX_WAKE without FUTEX_PRIVATE_FLAG: the word is in memory
// shared between processes.
const (
	futexWaitOp = 0
	futexWakeOp = 1
)

// futexWait sleeps while *word == seen. Spurious returns are allowed: callers
// check their condition again. It uses Syscall, not RawSyscall, so that the
// scheduler can hand the P to other goroutines while the thread sleeps.
func futexWait(word *atomic.Uint32, seen uint32) {
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWaitOp, uintptr(seen), 0, 0, 0)
}

// futexWake wakes at most one sleeper. The call never blocks, so it is made
// without telling the scheduler.
func futexWake(word *atomic.Uint32) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWakeOp, 1, 0, 0, 0)
}
