//go:build linux

package crossmem

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// An Error reports that memory of a process could not be reached. It wraps the
// system call's error.
type Error struct {
	Op    string // "reading" or "writing"
	PID   int
	At    Address
	Bytes int // that were still to be moved
	Err   error
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s %d bytes at %#x of process %d: %v%s", e.Op, e.Bytes, uint64(e.At), e.PID, e.Err, e.hint())
}

func (e *Error) Unwrap() error { return e.Err }

// hint says what the errors that users meet mean here.
func (e *Error) hint() string {
	switch {
	case errors.Is(e.Err, unix.ESRCH):
		return ": the process has ended"
	case errors.Is(e.Err, unix.EPERM):
		return ": not permitted to trace it (another user, ptrace_scope, a container without CAP_SYS_PTRACE)"
	case errors.Is(e.Err, unix.ENOSYS):
		return ": refused by a seccomp filter, or missing from the kernel"
	case errors.Is(e.Err, unix.EFAULT):
		return ": no such memory"
	}
	return ""
}
