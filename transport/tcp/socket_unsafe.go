package tcp

import (
	"sync/atomic"
	"syscall"
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

// call makes a system call on fd, about p, without announcing it to the Go scheduler.
// It copies a piece at most, in some 0.1 ms, for which a stop of the world can wait. An
// announced one loses its P to another thread meanwhile, which on a rank's only core
// takes the place of the caller: 154 us instead of 140 for a Put of 1 MiB.
func call(trap uintptr, fd int, p unsafe.Pointer, b, c uintptr) (int, unix.Errno) {
	n, _, errno := syscall.RawSyscall6(trap, uintptr(fd), uintptr(p), b, c, 0, 0)
	return int(n), errno
}

// recv reads into b. 0 and no error: the peer has closed. It is inlined, for what n is
// not.
//
// Precondition: len(b) > 0.
func recv(fd int, b []byte) (n uintptr, errno unix.Errno) {
	n, _, errno = syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_DONTWAIT, 0, 0)
	return n, errno
}

// recv2 reads into a and then b.
func recv2(fd int, a, b []byte) (int, unix.Errno) {
	iov := [2]unix.Iovec{vector(a), vector(b)}
	return call(unix.SYS_READV, fd, unsafe.Pointer(&iov[0]), 2, 0)
}

// send writes b.
//
// Precondition: len(b) > 0.
func send(fd int, b []byte) (int, unix.Errno) {
	n, errno := sendInline(fd, b)
	return int(n), errno
}

// sendInline is send, inlined.
func sendInline(fd int, b []byte) (n uintptr, errno unix.Errno) {
	n, _, errno = syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	return n, errno
}

// send3 writes a, b and c.
func send3(fd int, a, b, c []byte) (int, unix.Errno) {
	iov := [3]unix.Iovec{vector(a), vector(b), vector(c)}
	msg := unix.Msghdr{Iov: &iov[0]}
	msg.SetIovlen(3)
	return call(unix.SYS_SENDMSG, fd, unsafe.Pointer(&msg), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0)
}

// sendMore writes b, which leaves together with what is written next.
//
// Precondition: len(b) > 0.
func sendMore(fd int, b []byte) (int, unix.Errno) {
	return call(unix.SYS_SENDTO, fd, unsafe.Pointer(&b[0]), uintptr(len(b)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL|unix.MSG_MORE)
}

// vmsplice puts the pages of b into a pipe, as many as it has room for. The kernel
// holds the pages and knows no addresses any more: it can be misled by who changes what
// is in them, and by nothing else.
//
// Precondition: len(b) > 0.
func vmsplice(pipe int, b []byte) (int, unix.Errno) {
	iov := vector(b)
	return call(unix.SYS_VMSPLICE, pipe, unsafe.Pointer(&iov), 1, unix.SPLICE_F_NONBLOCK)
}

// splice moves n bytes of a pipe into a socket.
func splice(pipe, fd, n int) (int, unix.Errno) {
	k, _, errno := unix.RawSyscall6(unix.SYS_SPLICE, uintptr(pipe), 0, uintptr(fd), 0, uintptr(n), unix.SPLICE_F_NONBLOCK)
	return int(k), errno
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
