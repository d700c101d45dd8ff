package private

import (
	"os"

	"golang.org/x/sys/unix"
)

// Hold shows that a file is in use, until every copy of this descriptor is closed,
// those in other processes included. It reports false if somebody is just about to
// remove the file.
func Hold(f *os.File) (bool, error) { return lock(f, unix.LOCK_SH) }

// Seize reports whether nobody holds a file, and then lets nobody hold it, until f
// is closed.
func Seize(f *os.File) (bool, error) { return lock(f, unix.LOCK_EX) }

func lock(f *os.File, how int) (bool, error) {
	for {
		switch err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); err {
		case nil:
			return true, nil
		case unix.EINTR:
		case unix.EWOULDBLOCK:
			return false, nil
		default:
			return false, &os.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
	}
}
