package main

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// send and receive are the bare system calls: the scheduler is not told of them, as
// they do not block. buf has at least one byte; the pointer is used during the call
// only.
func send(fd int, buf []byte) (int, unix.Errno) {
	return moved(unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), unix.MSG_NOSIGNAL, 0, 0))
}

func receive(fd int, buf []byte) (int, unix.Errno) {
	return moved(unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), 0, 0, 0))
}

func moved(n, _ uintptr, errno unix.Errno) (int, unix.Errno) {
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// bytesOf views elements without pointers as bytes.
func bytesOf(s []int64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*word)
}
