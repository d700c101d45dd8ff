package uffd

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls of userfaultfd, as <linux/userfaultfd.h> has them.
//
// What is unsafe here: addresses are passed to the kernel. Those of arguments stay
// pointers up to the call expression of the system call, where the language keeps what
// they point to alive and in place. Addresses of a view's pages are numbers, of
// another process; the kernel checks them against what was registered.

const (
	uffdAPI      = 0xAA
	userModeOnly = 1

	featureWP        = 1 << 0  // faults of protected pages
	featureMissing   = 1 << 5  // of absent pages of a memfd
	featureThread    = 1 << 8  // who faulted
	featureExact     = 1 << 11 // and where
	featureWPShmem   = 1 << 12 // protection of a memfd's pages, and markers where none is
	neededFeatures   = featureWP | featureMissing | featureThread | featureExact | featureWPShmem
	registerMissing  = 1
	registerWP       = 2
	eventPagefault   = 0x12
	faultWrite       = 1
	faultWP          = 2
	copyWP           = 2
	protectWP        = 1
	faultMessageSize = 32
)

// Numbers of ioctls: direction, size of the argument, type, number.
const (
	both          = 3 << 30
	in            = 2 << 30
	sizeAt        = 16
	typeAt        = 8
	ioctlAPI      = both | 24<<sizeAt | uffdAPI<<typeAt | 0x3f
	ioctlRegister = both | 32<<sizeAt | uffdAPI<<typeAt
	ioctlWake     = in | 16<<sizeAt | uffdAPI<<typeAt | 2
	ioctlCopy     = both | 40<<sizeAt | uffdAPI<<typeAt | 3
	ioctlProtect  = both | 24<<sizeAt | uffdAPI<<typeAt | 6
	ioctlNewFile  = uffdAPI << typeAt // of /dev/userfaultfd: USERFAULTFD_IOC_NEW
)

func userfaultfd(flags int) (int, error) {
	fd, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, uintptr(flags), 0, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

func newFromDevice(device, flags int) (int, error) {
	fd, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(device), ioctlNewFile, uintptr(flags))
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

func ioctl(fd int, number uintptr, argument unsafe.Pointer) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), number, uintptr(argument))
	if errno != 0 {
		return errno
	}
	return nil
}

// hello agrees on the features: all of them, or an error.
func hello(fd int, features uint64) error {
	a := struct{ api, features, ioctls uint64 }{uffdAPI, features, 0}
	return ioctl(fd, ioctlAPI, unsafe.Pointer(&a))
}

func register(fd int, start uintptr, n int, mode uint64) error {
	a := struct{ start, n, mode, ioctls uint64 }{uint64(start), uint64(n), mode, 0}
	return ioctl(fd, ioctlRegister, unsafe.Pointer(&a))
}

func wake(fd int, start uintptr, n int) error {
	a := struct{ start, n uint64 }{uint64(start), uint64(n)}
	return ioctl(fd, ioctlWake, unsafe.Pointer(&a))
}

func protect(fd int, start uintptr, n int, mode uint64) error {
	a := struct{ start, n, mode uint64 }{uint64(start), uint64(n), mode}
	return ioctl(fd, ioctlProtect, unsafe.Pointer(&a))
}

// fill returns how many bytes were copied.
//
// Precondition: len(src) > 0.
func fill(fd int, dst uintptr, src []byte, mode uint64) (int, error) {
	a := struct {
		dst     uint64
		src     unsafe.Pointer
		n, mode uint64
		copied  int64
	}{uint64(dst), unsafe.Pointer(&src[0]), uint64(len(src)), mode, 0}
	err := ioctl(fd, ioctlCopy, unsafe.Pointer(&a))
	return int(max(a.copied, 0)), err
}

// A message is what a read returns.
type message struct {
	event   uint8
	_       [7]byte
	flags   uint64
	address uint64
	thread  uint32
	_       uint32
}

var _ = [1]struct{}{}[unsafe.Sizeof(message{})-faultMessageSize]

// read takes messages that are there.
//
// Precondition: len(m) > 0.
func read(fd int, m []message) (int, error) {
	n, _, errno := unix.Syscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&m[0])), uintptr(len(m))*faultMessageSize)
	if errno != 0 {
		return 0, errno
	}
	return int(n) / faultMessageSize, nil
}

// addressOf is where mapped memory begins.
//
// Precondition: len(mem) > 0.
func addressOf(mem []byte) uintptr { return uintptr(unsafe.Pointer(&mem[0])) }
