package line

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// A Mail is memory of a rank and its pager: a ring for what the rank wants, and one for the answers.
type Mail struct{ mem []byte }

const mailBytes = 2 * ringBytes

// NewMail makes one, and the descriptor by which the rank maps it. Nobody can make it smaller: who
// has the descriptor cannot have an access to it fault.
func NewMail() (m Mail, fd int, err error) {
	if fd, err = unix.MemfdCreate("golaunch mail", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING); err != nil {
		return Mail{}, -1, os.NewSyscallError("memfd_create", err)
	}
	if err = unix.Ftruncate(fd, mailBytes); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err == nil {
		m, err = MapMail(fd)
	}
	if err != nil {
		return Mail{}, -1, errors.Join(fmt.Errorf("memory for requests and answers: %w", err), unix.Close(fd))
	}
	return m, fd, nil
}

// MapMail is the rank's end. The descriptor stays the caller's.
func MapMail(fd int) (m Mail, err error) {
	m.mem, err = unix.Mmap(fd, 0, mailBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return m, os.NewSyscallError("mmap", err)
}

// Rank returns the ends that a rank has.
func (m Mail) Rank() (requests *Writer, answers *Reader) {
	return &Writer{ring: openRing(m.mem, 0)}, &Reader{ring: openRing(m.mem, 1)}
}

// Pager returns the ends that its pager has.
func (m Mail) Pager() (requests *Reader, answers *Writer) {
	return &Reader{ring: openRing(m.mem, 0)}, &Writer{ring: openRing(m.mem, 1)}
}

// Close unmaps it: its ends must not be used any more.
func (m Mail) Close() error {
	if m.mem == nil {
		return nil
	}
	return os.NewSyscallError("munmap", unix.Munmap(m.mem))
}
