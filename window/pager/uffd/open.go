package uffd

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// A Way is how a process came by its userfaultfd.
type Way int

const (
	// BySyscall: userfaultfd(2), for processes with CAP_SYS_PTRACE, or for all where
	// vm.unprivileged_userfaultfd is 1.
	BySyscall Way = iota
	// ByDevice: /dev/userfaultfd, for who may open it.
	ByDevice
	// UserMode: for everybody, but only the program's own loads and stores wait for a
	// page. A system call that is given one which is absent fails with EFAULT.
	UserMode
)

func (w Way) String() string {
	return [...]string{"userfaultfd(2)", "/dev/userfaultfd", "userfaultfd(2) with UFFD_USER_MODE_ONLY"}[w]
}

const device = "/dev/userfaultfd"

// ErrUnavailable is wrapped by the error of [Create] where the kernel or the process's
// rights do not allow views at all.
var ErrUnavailable = errors.New("pages cannot be watched")

// open tries one way after the other, by using it.
func open() (fd int, way Way, err error) {
	for way, try := range [...]func() (int, error){
		func() (int, error) { return userfaultfd(unix.O_CLOEXEC | unix.O_NONBLOCK) },
		fromDevice,
		func() (int, error) { return userfaultfd(unix.O_CLOEXEC | unix.O_NONBLOCK | userModeOnly) },
	} {
		fd, tryErr := try()
		if tryErr == nil {
			if tryErr = hello(fd, neededFeatures); tryErr == nil {
				return fd, Way(way), nil
			}
			_ = unix.Close(fd)
		}
		err = errors.Join(err, fmt.Errorf("%v: %w", Way(way), tryErr))
	}
	return -1, 0, fmt.Errorf("%w: %w", ErrUnavailable, err)
}

func fromDevice() (int, error) {
	f, err := os.OpenFile(device, os.O_RDWR, 0)
	if err != nil {
		return -1, err
	}
	defer f.Close()
	return newFromDevice(int(f.Fd()), unix.O_CLOEXEC|unix.O_NONBLOCK)
}
