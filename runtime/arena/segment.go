package arena

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/transport"
)

const (
	// firstSegment is small: a host may start many ranks that need little.
	firstSegment = 1 << 20
	// largestSegment ends the doubling; a larger request gets a segment of its own.
	largestSegment = 256 << 20
	// leastStride is how many bytes are filled at a time, at least: about as much
	// work as asking how much memory there is.
	leastStride = 256 << 10
)

// seals keep the size fixed for as long as the segment lives: shrinking it would
// be a SIGBUS for every rank that has it mapped.
const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// A segment is one memfd, mapped whole, filled from the front. It sleeps while it
// has no pages: then nothing is cut from it, and it is not registered.
type segment struct {
	key    uint64
	file   *os.File
	mem    []byte
	region transport.Region // guarded by growing: nil if it is not registered

	// Guarded by Arena.mu; ready is written under growing as well.
	next  int64 // where the next block is cut
	ready int64 // bytes from the front that are populated; 0: it sleeps
	busy  int   // blocks that are not free
}

// newSegment makes an empty, unpopulated segment.
func newSegment(size int64) (*segment, error) {
	f, err := newMemfd(size)
	if err != nil {
		return nil, err
	}
	mem, err := mapShared(f, size)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &segment{file: f, mem: mem}, nil
}

func newMemfd(size int64) (*os.File, error) {
	if err := checkFileLimit(size); err != nil {
		return nil, err
	}
	fd, err := memfdCreate()
	if err != nil {
		return nil, fmt.Errorf("memfd_create: %w", err)
	}
	f := os.NewFile(uintptr(fd), "golaunch-arena")
	if err := unix.Ftruncate(fd, size); err != nil {
		return nil, errors.Join(fmt.Errorf("ftruncate to %d bytes: %w", size, err), f.Close())
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		return nil, errors.Join(fmt.Errorf("sealing: %w", err), f.Close())
	}
	return f, nil
}

// memfdCreate asks for memory that cannot be executed, which hosts with
// vm.memfd_noexec=2 insist on and kernels before 6.3 do not know.
func memfdCreate() (int, error) {
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate("golaunch-arena", flags|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) {
		return unix.MemfdCreate("golaunch-arena", flags)
	}
	return fd, err
}

// checkFileLimit refuses what RLIMIT_FSIZE (ulimit -f) would answer with the
// signal SIGXFSZ.
func checkFileLimit(size int64) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		return fmt.Errorf("getrlimit: %w", err)
	}
	if uint64(size) > limit.Cur {
		return fmt.Errorf("a segment of %d bytes exceeds the limit on file sizes (RLIMIT_FSIZE, ulimit -f) of %d bytes", size, limit.Cur)
	}
	return nil
}

// mapShared maps a whole file. Where the host has huge pages for shared memory,
// the kernel places the mapping at a multiple of 2 MiB by itself; where it has
// none, the advice fails and nothing is lost.
func mapShared(f *os.File, size int64) ([]byte, error) {
	var mem []byte
	err := withDescriptor(f, func(fd int) (err error) {
		mem, err = unix.Mmap(fd, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("mmap of %d bytes: %w", size, err)
	}
	if size >= hugePage {
		_ = unix.Madvise(mem, unix.MADV_HUGEPAGE)
	}
	return mem, nil
}

// withDescriptor runs do while f cannot be closed, without making f blocking as
// f.Fd would.
func withDescriptor(f *os.File, do func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var done error
	if err := raw.Control(func(fd uintptr) { done = do(int(fd)) }); err != nil {
		return err
	}
	return done
}

func (s *segment) close() error {
	err := unmap(s.mem)
	s.mem = nil
	return errors.Join(err, s.file.Close())
}

func unmap(mem []byte) error {
	if err := unix.Munmap(mem); err != nil {
		return fmt.Errorf("munmap of %d bytes: %w", len(mem), err)
	}
	return nil
}

// place returns where a block would go: at the next multiple of align, or of
// hugePage for a block of that size if the gap costs at most an eighth of it.
func (s *segment) place(size, align int64) int64 {
	if size >= hugePage {
		if at := roundUp(s.next, hugePage); at-s.next <= size/8 && at+size <= int64(len(s.mem)) {
			return at
		}
	}
	return roundUp(s.next, align)
}

// cut takes size populated bytes; false when there are not that many.
func (s *segment) cut(size, align int64) (offset int64, ok bool) {
	at := s.place(size, align)
	if at+size > s.ready {
		return 0, false
	}
	s.next = at + size
	return at, true
}

// target returns how far to populate so that a block fits: generously, a stride
// at least, and exactly. false: the segment is too small for it.
func (s *segment) target(size, align int64) (generous, exact int64, ok bool) {
	whole := int64(len(s.mem))
	exact = roundUp(s.place(size, align)+size, align)
	if exact > whole {
		return 0, 0, false
	}
	return max(exact, min(s.ready+stride(whole), whole)), exact, true
}

// stride is an eighth of the segment: a rank's memory exceeds its use by little,
// and segments are filled in few steps.
func stride(segment int64) int64 { return max(leastStride, segment/8) }
