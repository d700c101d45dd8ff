package window_test

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// denyWatching has this process, and those that it starts, fail to get a userfaultfd, in
// any way: as on a kernel without it, or in a container that forbids it. The filter is
// seccomp's (seccomp(2)); what is unsafe is passing its program to the kernel.
func denyWatching() error {
	const (
		load   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		answer = unix.BPF_RET | unix.BPF_K

		number   = 0  // struct seccomp_data: nr,
		request  = 24 // args[1], its lower half
		newFile  = 0xAA00
		allowed  = 0x7fff0000 // SECCOMP_RET_ALLOW
		refused  = 0x00050000 | uint32(unix.EPERM)
		allTasks = 1 // SECCOMP_FILTER_FLAG_TSYNC
		setMode  = 1 // SECCOMP_SET_MODE_FILTER
	)
	program := []unix.SockFilter{
		{Code: load, K: number},
		{Code: equal, K: uint32(unix.SYS_USERFAULTFD), Jt: 4},
		{Code: equal, K: uint32(unix.SYS_IOCTL), Jf: 2},
		{Code: load, K: request},
		{Code: equal, K: newFile, Jt: 1},
		{Code: answer, K: allowed},
		{Code: answer, K: refused},
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("prctl: %w", err)
	}
	p := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, setMode, allTasks, uintptr(unsafe.Pointer(&p))); errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}
