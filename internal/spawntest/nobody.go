package spawntest

import (
	"runtime"
	"syscall"
)

// AsNobody runs f on a thread of another user, without rights, which ends with it. Only
// root can do that.
func AsNobody(f func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and not unlock: the thread is of no use to others
		const nobody = 65534
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, nobody, nobody, nobody); errno != 0 {
			result <- errno
			return
		}
		result <- f()
	}()
	return <-result
}
