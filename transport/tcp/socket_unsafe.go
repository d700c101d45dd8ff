package tcp

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// System calls on non-blocking sockets, without the standard library's poller in
// between. None of them ever waits.
//
// What is unsafe here: addresses are passed to the kernel. They stay pointers, which
// the collector sees and which move with a growing stack, up to the call expression
// of the system call itself; there the language keeps what they point to alive and
// in place. An iovec holds pointers, too.

// longCall is from how many bytes a call is announced to the Go scheduler: copying
// them may take longer than a stop of the world should be kept waiting. A short
// one is cheaper unannounced.
const longCall = 32 << 10

// call makes a system call on fd, about p, that may copy so many bytes.
func call(trap uintptr, fd int, p unsafe.Pointer, b, c uintptr, bytes int) (int, unix.Errno) {
	if bytes >= longCall {
		n, _, errno := unix.Syscall6(trap, uintptr(fd), uintptr(p), b, c, 0, 0)
		return int(n), errno
	}
	n, _, errno := unix.RawSyscall6(trap, uintptr(fd), uintptr(p), b, c, 0, 0)
	return int(n), errno
}

// recv reads into b. 0 and no error: the peer has closed.
//
// Precondition: len(b) > 0.
func recv(fd int, b []byte) (int, unix.Errno) {
	return call(unix.SYS_RECVFROM, fd, unsafe.Pointer(&b[0]), uintptr(len(b)), unix.MSG_DONTWAIT, len(b)/4)
}

// recv2 reads into a and then b.
func recv2(fd int, a, b []byte) (int, unix.Errno) {
	iov := [2]unix.Iovec{vector(a), vector(b)}
	return call(unix.SYS_READV, fd, unsafe.Pointer(&iov[0]), 2, 0, len(a))
}

// send writes b.
//
// Precondition: len(b) > 0.
func send(fd int, b []byte) (int, unix.Errno) {
	return call(unix.SYS_SENDTO, fd, unsafe.Pointer(&b[0]), uintptr(len(b)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, len(b))
}

// send2 writes a and then b.
func send2(fd int, a, b []byte) (int, unix.Errno) {
	iov := [2]unix.Iovec{vector(a), vector(b)}
	msg := unix.Msghdr{Iov: &iov[0]}
	msg.SetIovlen(2)
	return call(unix.SYS_SENDMSG, fd, unsafe.Pointer(&msg), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, len(a)+len(b))
}

func vector(b []byte) unix.Iovec {
	v := unix.Iovec{Base: unsafe.SliceData(b)}
	v.SetLen(len(b))
	return v
}

// readyNow returns how many events an epoll instance has, without waiting.
func readyNow(epoll int, events []unix.EpollEvent) int {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epoll), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// wordAt returns the 8-byte word at the beginning of mem for CPU atomics, which
// owners and peers that have the memory mapped use as well, or nil if it is not
// aligned.
//
// Precondition: len(mem) >= 8.
func wordAt(mem []byte) *atomic.Uint64 {
	p := unsafe.Pointer(&mem[0])
	if uintptr(p)%8 != 0 {
		return nil
	}
	return (*atomic.Uint64)(p)
}
