// Package private has directories that are one user's alone, in which files are
// opened by descriptor: nothing on the way is looked up twice, and no symbolic link
// is followed. It also has the locks by which processes show each other that a file
// is in use.
package private

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A Dir is an open directory that belongs to this process's user, and that nobody
// else may enter. It may be used from any goroutine, before Close.
type Dir struct {
	path string
	file *os.File
}

// Open opens a directory, and makes it if there is none. One of another user, or
// that others may enter, is refused.
func Open(path string) (*Dir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return checked(path, fd)
}

// Sub opens a directory in this one, and makes it if there is none.
func (d *Dir) Sub(name string) (*Dir, error) {
	if err := unix.Mkdirat(d.fd(), name, 0o700); err != nil && err != unix.EEXIST {
		return nil, d.error("mkdir", name, err)
	}
	f, err := d.Open(name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	f.Close()
	if err != nil {
		return nil, d.error("dup", name, err)
	}
	return checked(d.Path(name), fd)
}

func checked(path string, fd int) (*Dir, error) {
	d := &Dir{path, os.NewFile(uintptr(fd), path)}
	var stat unix.Stat_t
	err := unix.Fstat(fd, &stat)
	switch {
	case err != nil:
		err = d.error("fstat", "", err)
	case int(stat.Uid) != os.Geteuid():
		err = fmt.Errorf("%s belongs to user %d, not to user %d", path, stat.Uid, os.Geteuid())
	case stat.Mode&0o077 != 0:
		err = fmt.Errorf("%s: others may enter it (mode %04o): chmod 700 %s", path, stat.Mode&0o7777, path)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Path is where a file of the directory lies.
func (d *Dir) Path(name string) string { return filepath.Join(d.path, name) }

// Close closes the directory.
func (d *Dir) Close() error { return d.file.Close() }

// File is the directory's descriptor, for locks and for processes that inherit it.
func (d *Dir) File() *os.File { return d.file }

func (d *Dir) fd() int { return int(d.file.Fd()) }

func (d *Dir) error(op, name string, err error) error {
	return &os.PathError{Op: op, Path: d.Path(name), Err: err}
}

// Open opens a file of the directory itself. A symbolic link is an error that
// matches unix.ELOOP. It waits for nobody: neither for a pipe's other end.
func (d *Dir) Open(name string, flags int, mode uint32) (*os.File, error) {
	if name == "" || strings.Contains(name, "/") || name == ".." {
		return nil, d.error("open", name, unix.EINVAL)
	}
	flags |= unix.O_CLOEXEC | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY
	fd, err := openBeneath(d.fd(), name, flags, mode)
	if err != nil {
		return nil, d.error("open", name, err)
	}
	return os.NewFile(uintptr(fd), d.Path(name)), nil
}

// openBeneath has the kernel see to it that the file lies in the directory. Where
// there is no openat2 (Linux before 5.6, some containers), a name without slashes
// and O_NOFOLLOW come to the same.
func openBeneath(dir int, name string, flags int, mode uint32) (int, error) {
	if flags&unix.O_CREAT == 0 {
		mode = 0
	}
	how := unix.OpenHow{
		Flags: uint64(flags), Mode: uint64(mode),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	for {
		fd, err := unix.Openat2(dir, name, &how)
		if err == unix.ENOSYS || err == unix.EPERM {
			fd, err = unix.Openat(dir, name, flags, mode)
		}
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// Remove removes a file.
func (d *Dir) Remove(name string) error {
	if err := unix.Unlinkat(d.fd(), name, 0); err != nil {
		return d.error("unlink", name, err)
	}
	return nil
}

// Link makes a symbolic link.
func (d *Dir) Link(name, target string) error {
	if err := unix.Symlinkat(target, d.fd(), name); err != nil {
		return d.error("symlink", name, err)
	}
	return nil
}

// Move makes a file one of another directory of the same file system, in place of
// what has that name there.
func (d *Dir) Move(name string, to *Dir, newName string) error {
	if err := unix.Renameat(d.fd(), name, to.fd(), newName); err != nil {
		return to.error("rename", newName, err)
	}
	return nil
}

// Stat looks at what has a name, without following it.
func (d *Dir) Stat(name string) (unix.Stat_t, error) {
	var stat unix.Stat_t
	err := unix.Fstatat(d.fd(), name, &stat, unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		err = d.error("stat", name, err)
	}
	return stat, err
}

// SetTimes sets when a file was read and changed last.
func (d *Dir) SetTimes(name string, read, changed time.Time) error {
	return d.times(name, unix.NsecToTimespec(read.UnixNano()), unix.NsecToTimespec(changed.UnixNano()))
}

// Touch sets when a file was read last to now.
func (d *Dir) Touch(name string) error {
	return d.times(name, unix.Timespec{Nsec: unix.UTIME_NOW}, unix.Timespec{Nsec: unix.UTIME_OMIT})
}

func (d *Dir) times(name string, times ...unix.Timespec) error {
	if err := unix.UtimesNanoAt(d.fd(), name, times, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return d.error("utimensat", name, err)
	}
	return nil
}

// Names are those of everything in the directory.
func (d *Dir) Names() ([]string, error) {
	f, err := d.Open(".", unix.O_RDONLY|unix.O_DIRECTORY, 0) // with a position of its own
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}
