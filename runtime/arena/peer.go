package arena

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// MapPeer maps a peer's segment for reading and writing. f may be closed
// afterwards. The file must be sealed against shrinking (ErrSeals): otherwise the
// peer could turn an access here into a SIGBUS. The caller compares the length
// with what it was told.
//
// Only extents that the peer handed out may be touched: other pages may be
// unpopulated, and touching them takes memory that nobody accounts for.
func MapPeer(f *os.File) ([]byte, error) {
	size, err := peerSize(f)
	if err != nil {
		return nil, fmt.Errorf("arena: mapping a peer's segment: %w", err)
	}
	mem, err := mapShared(f, size)
	if err != nil {
		return nil, fmt.Errorf("arena: mapping a peer's segment: %w", err)
	}
	return mem, nil
}

// UnmapPeer undoes MapPeer. It takes exactly the slice that MapPeer returned, and
// returns an error for any other and for the second time.
func UnmapPeer(mem []byte) error {
	if err := unmap(mem); err != nil {
		return fmt.Errorf("arena: unmapping a peer's segment: %w", err)
	}
	return nil
}

// peerSize returns the size of a file that will not shrink.
func peerSize(f *os.File) (size int64, err error) {
	err = withDescriptor(f, func(fd int) error {
		if err := checkSeals(fd); err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return fmt.Errorf("fstat: %w", err)
		}
		size = st.Size
		if page := int64(os.Getpagesize()); size <= 0 || size%page != 0 || size > maxBytes {
			return fmt.Errorf("%d bytes: %w", size, ErrSize)
		}
		return nil
	})
	return size, err
}

func checkSeals(fd int) error {
	have, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil {
		return fmt.Errorf("%w: it has no seals (F_GET_SEALS: %w)", ErrSeals, err)
	}
	if have&unix.F_SEAL_SHRINK == 0 {
		return fmt.Errorf("%w: its seals are %#x", ErrSeals, have)
	}
	return nil
}
