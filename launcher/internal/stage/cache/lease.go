package cache

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/internal/stage/digest"
	"github.com/golaunch/golaunch/launcher/internal/stage/private"
)

// A Blob is whole, verified content, open for reading. It stays in the cache until
// its descriptor is closed, by every process that has inherited a copy.
type Blob struct {
	*os.File
	Sum  digest.Sum
	Size int64
}

// A stamp is what changes with every write to a file.
type stamp struct {
	dev, ino uint64
	size     int64
	ctime    unix.Timespec
}

// Lease opens a blob. An error that matches ErrMissing says that it has to be
// fetched; a *Refused also says what lies in its place, which a blob that is fetched
// replaces.
func (c *Cache) Lease(sum digest.Sum) (*Blob, error) {
	f, err := c.hold(sum)
	if err != nil {
		return nil, c.refuse(err)
	}
	b, err := c.check(sum, f)
	if err != nil {
		f.Close()
		return nil, c.refuse(err)
	}
	return b, nil
}

// hold opens a blob and shows that it is in use; not while this process evicts, who
// looks at each blob by a lock of its own.
func (c *Cache) hold(sum digest.Sum) (*os.File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, err := c.blobs.Open(sum.String(), unix.O_RDONLY, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, missing(sum)
	case errors.Is(err, unix.ELOOP):
		return nil, &Refused{c.blobs.Path(sum.String()), "is a symbolic link"}
	case err != nil:
		return nil, fmt.Errorf("cache: %w", err)
	}
	held, err := private.Hold(f)
	if !held || err != nil {
		f.Close()
		return nil, errors.Join(err, missing(sum)) // another process evicts it
	}
	return f, nil
}

func missing(sum digest.Sum) error { return fmt.Errorf("blob %s: %w", sum.Short(), ErrMissing) }

// Has reports whether a blob is in the cache, without reading it.
func (c *Cache) Has(sum digest.Sum, size int64) bool {
	stat, err := c.blobs.Stat(sum.String())
	return err == nil && stat.Size == size && wrong(&stat) == ""
}

// Path is where a blob lies.
func (c *Cache) Path(sum digest.Sum) string { return c.blobs.Path(sum.String()) }

// refuse reports an error if it is a refusal, and returns it.
func (c *Cache) refuse(err error) error {
	var refused *Refused
	if errors.As(err, &refused) {
		c.report(refused)
	}
	return err
}

// check makes a blob of a file that is what it should be.
func (c *Cache) check(sum digest.Sum, f *os.File) (*Blob, error) {
	var stat unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &stat); err != nil {
		return nil, &os.PathError{Op: "fstat", Path: f.Name(), Err: err}
	}
	if stat.Nlink == 0 { // evicted or replaced since it was opened
		return nil, missing(sum)
	}
	if why := wrong(&stat); why != "" {
		return nil, &Refused{f.Name(), why}
	}
	if err := c.verify(sum, f, &stat); err != nil {
		return nil, err
	}
	return &Blob{f, sum, stat.Size}, c.used(sum, f)
}

// wrong says why a file was not made by the cache.
func wrong(stat *unix.Stat_t) string {
	switch mode := stat.Mode & 0o7777; {
	case stat.Mode&unix.S_IFMT == unix.S_IFLNK:
		return "is a symbolic link"
	case stat.Mode&unix.S_IFMT != unix.S_IFREG:
		return "is not a regular file"
	case int(stat.Uid) != os.Geteuid():
		return fmt.Sprintf("belongs to user %d", stat.Uid)
	case stat.Nlink != 1:
		return fmt.Sprintf("has %d names (hard links)", stat.Nlink)
	case mode != 0o500:
		return fmt.Sprintf("has mode %04o instead of 0500", mode)
	}
	return ""
}

// verify reads the whole blob, unless that was done and nothing has changed.
func (c *Cache) verify(sum digest.Sum, f *os.File, stat *unix.Stat_t) error {
	c.mu.Lock()
	known, ok := c.stamps[sum]
	c.mu.Unlock()
	if ok && known == stampOf(stat) && unix.NsecToTimespec(sealed.UnixNano()) == stat.Mtim {
		return nil
	}
	got, _, err := digest.Read(io.NewSectionReader(f, 0, stat.Size))
	if err != nil {
		return err
	}
	if got != sum {
		return &Refused{f.Name(), fmt.Sprintf("was changed: it has SHA-256 %s", got.Short())}
	}
	c.mu.Lock()
	c.stamps[sum] = stampOf(stat)
	c.mu.Unlock()
	return nil
}

func stampOf(stat *unix.Stat_t) stamp {
	return stamp{uint64(stat.Dev), stat.Ino, stat.Size, stat.Ctim}
}

// used makes a blob that was found right the one used last. That changes its stamp;
// a write meanwhile shows in the time of its last change.
func (c *Cache) used(sum digest.Sum, f *os.File) error {
	if err := c.blobs.Touch(sum.String()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return c.remember(sum, f)
}

// remember notes what a blob that was found right looks like.
func (c *Cache) remember(sum digest.Sum, f *os.File) error {
	var stat unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &stat); err != nil {
		return &os.PathError{Op: "fstat", Path: f.Name(), Err: err}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stamps[sum] = stampOf(&stat)
	return nil
}
