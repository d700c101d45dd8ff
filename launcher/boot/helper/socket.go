package helper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/launcher/internal/desk"
)

// backlog is how many ranks may connect at once.
const backlog = 4096

// listen returns a socket that listens in the abstract namespace.
func listen(address string) (*os.File, error) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	if err = syscall.Bind(fd, &syscall.SockaddrUnix{Name: address}); err == nil {
		err = syscall.Listen(fd, backlog)
	}
	if err != nil {
		return nil, errors.Join(os.NewSyscallError("listening", err), syscall.Close(fd))
	}
	return os.NewFile(uintptr(fd), "golaunch helper"), nil
}

// accept waits for a connection.
func accept(l *os.File) (*os.File, error) {
	raw, err := l.SyscallConn()
	if err != nil {
		return nil, err
	}
	var fd int
	var failed error
	err = raw.Read(func(from uintptr) bool {
		fd, _, failed = syscall.Accept4(int(from), syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK)
		return failed != syscall.EAGAIN && failed != syscall.EINTR
	})
	if err != nil {
		return nil, err
	}
	if failed != nil {
		return nil, os.NewSyscallError("accept4", failed)
	}
	return os.NewFile(uintptr(fd), "rank"), nil
}

// Dial joins as a rank at the helper of a host, which must be listening: it was
// started by the host's first rank.
func Dial(ctx context.Context, secret []byte, host, rank int) (*boot.Session, error) {
	socket, err := dial(address(secret, host))
	if err != nil {
		return nil, fmt.Errorf("rank %d: connecting to the helper process of host %d: %w", rank, host, err)
	}
	s, err := boot.ConnectOver(ctx, socket, rank, proof(secret, rank))
	if err != nil {
		return nil, err
	}
	if s.Rank() != rank {
		return nil, errors.Join(fmt.Errorf("rank %d: the helper process takes it for rank %d", rank, s.Rank()), s.JobMemory().Close(), s.Close())
	}
	return s, nil
}

// dial connects, and waits while there are too many who do.
func dial(address string) (*os.File, error) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	if err = syscall.Connect(fd, &syscall.SockaddrUnix{Name: address}); err == nil {
		err = syscall.SetNonblock(fd, true)
	}
	if err != nil {
		return nil, errors.Join(os.NewSyscallError("connect", err), syscall.Close(fd))
	}
	socket := os.NewFile(uintptr(fd), "golaunch helper")
	if err := ours(socket); err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	return socket, nil
}

// ours checks that the other end is of this process's user.
func ours(socket *os.File) error {
	if pid, uid := desk.Creator(socket); uid != os.Geteuid() {
		return fmt.Errorf("process %d there is of user %d, and this one of user %d", pid, uid, os.Geteuid())
	}
	return nil
}
