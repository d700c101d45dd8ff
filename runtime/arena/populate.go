package arena

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// populate fills mem with zero pages now, so that no later access can fail for
// want of memory. mem begins at a page.
func populate(mem []byte, page int64) error {
	for {
		err := unix.Madvise(mem, unix.MADV_POPULATE_WRITE)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN):
			continue
		case errors.Is(err, unix.EINVAL): // before Linux 5.14
			touch(mem, page)
			return nil
		case errors.Is(err, unix.EFAULT) || errors.Is(err, unix.ENOMEM):
			return fmt.Errorf("filling %d bytes: the kernel has no memory for them: %w", len(mem), err)
		default:
			return fmt.Errorf("filling %d bytes: %w", len(mem), err)
		}
	}
}

// touch writes one byte to every page. Nobody else knows of the memory yet.
func touch(mem []byte, page int64) {
	for i := int64(0); i < int64(len(mem)); i += page {
		mem[i] = 0
	}
}
