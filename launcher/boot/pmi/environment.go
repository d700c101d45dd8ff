package pmi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"
)

// What process managers leave in the environment.
const (
	EnvFD   = "PMI_FD"    // an inherited stream socket
	EnvPort = "PMI_PORT"  // or else host:port
	EnvID   = "PMI_ID"    // the rank, with PMI_PORT
	EnvRank = "PMI_RANK"  // the rank, with PMI_FD
	EnvSize = "PMI_SIZE"  // how many ranks there are, with PMI_FD
	EnvJob  = "PMI_JOBID" // the job's name in PMI-2

	// EnvVersion is of this package: the only version to speak, "1" or "2".
	EnvVersion = "GOLAUNCH_PMI"
)

// Claimed reports whether the environment says that a process manager has started
// this process.
func Claimed() bool { return os.Getenv(EnvFD) != "" || os.Getenv(EnvPort) != "" }

// A stream is a connection to the process manager.
type stream interface {
	Read([]byte) (int, error)
	Write([]byte) (int, error)
	Close() error
	SetReadDeadline(time.Time) error
}

// connect returns the connection that the environment speaks of.
func connect(ctx context.Context) (stream, error) {
	if value := os.Getenv(EnvFD); value != "" {
		return inherited(value)
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", os.Getenv(EnvPort))
	if err != nil {
		return nil, fmt.Errorf("the process manager at %s=%s: %w", EnvPort, os.Getenv(EnvPort), err)
	}
	if err := keepOpen(conn.(*net.TCPConn)); err != nil {
		return nil, errors.Join(fmt.Errorf("the process manager at %s: %w", os.Getenv(EnvPort), err), conn.Close())
	}
	return conn, nil
}

// keepOpen keeps a connection open until the process ends, as an inherited
// descriptor is: a process manager kills a process whose connection closes before it
// has said why.
func keepOpen(conn *net.TCPConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var errno syscall.Errno
	err = raw.Control(func(fd uintptr) { _, _, errno = syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_DUPFD_CLOEXEC, 0) })
	if err == nil && errno != 0 {
		err = errno
	}
	return err
}

// inherited returns a duplicate of the inherited descriptor. That itself stays open,
// so that its number cannot come to mean another file, and is closed on exec, which
// also shows that it was used: no inherited descriptor is.
func inherited(value string) (stream, error) {
	fd, err := strconv.Atoi(value)
	if err != nil || fd < 0 {
		return nil, notStarted("%s=%q is no descriptor", EnvFD, value)
	}
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0)
	kind, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_TYPE)
	switch {
	case errno != 0:
		return nil, notStarted("%s=%d, and that descriptor is not open", EnvFD, fd)
	case err != nil || kind != syscall.SOCK_STREAM:
		return nil, notStarted("%s=%d, and that descriptor is no stream socket", EnvFD, fd)
	case flags&syscall.FD_CLOEXEC != 0:
		return nil, fmt.Errorf("this process has joined already: %s=%d is in use", EnvFD, fd)
	}
	syscall.CloseOnExec(fd)
	own, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_DUPFD_CLOEXEC, 0)
	if errno != 0 {
		return nil, fmt.Errorf("duplicating %s=%d: %w", EnvFD, fd, errno)
	}
	if err := syscall.SetNonblock(int(own), true); err != nil {
		return nil, errors.Join(fmt.Errorf("%s=%d: %w", EnvFD, fd, err), syscall.Close(int(own)))
	}
	return os.NewFile(own, "process manager"), nil
}

func notStarted(format string, args ...any) error {
	return fmt.Errorf("the environment claims that a process manager started this process: %s "+
		"(start it with mpiexec or srun, or unset the PMI_ variables)", fmt.Sprintf(format, args...))
}

// number is a variable's value as a number from least on.
func number(name string, least int) (int, error) {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil || n < least {
		return 0, notStarted("%s=%q, and should be a number from %d on", name, os.Getenv(name), least)
	}
	return n, nil
}
