// Package jobdir makes the directory in which the ranks of a job find, on one host,
// the program and the files that were sent with it.
//
//	DIR/jobs/JOB/program/NAME   a symbolic link to the blob, so that the process has
//	                            the program's name
//	DIR/jobs/JOB/files/...      copies: what ranks do to them, they do to nobody else
//
// Whoever runs the job holds the directory and the program's blob by descriptors
// ([Dir.Held]), which processes inherit; what nobody holds any more is removed by
// [Jobs.Sweep].
package jobdir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/internal/stage/cache"
	"github.com/golaunch/golaunch/launcher/internal/stage/manifest"
	"github.com/golaunch/golaunch/launcher/internal/stage/private"
)

// Jobs are the directories of a cache's jobs. Any goroutine may use them.
type Jobs struct {
	cache *cache.Cache
	dir   *private.Dir
	mu    sync.Mutex // nobody sweeps what is being made
}

// Open opens the directories of jobs beside a cache's blobs, and sweeps.
func Open(c *cache.Cache) (*Jobs, error) {
	dir, err := c.Dir().Sub("jobs")
	if err != nil {
		return nil, fmt.Errorf("job directories: %w", err)
	}
	j := &Jobs{cache: c, dir: dir}
	if err := j.Sweep(); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return j, nil
}

// Close closes the descriptor, and removes nothing.
func (j *Jobs) Close() error { return j.dir.Close() }

// A Dir is the directory of one job, held until Close.
type Dir struct {
	name    string
	dir     *private.Dir
	program *cache.Blob
	exec    string
}

// maxName is how long the name of a job may be, in bytes.
const maxName = 128

// checkName takes letters, digits and - _ only, and . within.
func checkName(job string) error {
	for i, c := range []byte(job) {
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || i > 0 && (c == '-' || c == '.')
		if !ok {
			return fmt.Errorf("job name %.40q: want letters, digits, - and _", job)
		}
	}
	if job == "" || len(job) > maxName {
		return fmt.Errorf("job name %.40q: want 1 to %d bytes", job, maxName)
	}
	return nil
}

// Make makes the directory of a job, which has none, from blobs that are in the
// cache; an error that matches cache.ErrMissing says that one is not. On an error
// nothing is left.
func (j *Jobs) Make(job string, m manifest.Manifest) (*Dir, error) {
	if err := errors.Join(checkName(job), m.Check()); err != nil {
		return nil, err
	}
	d, err := j.hold(job)
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", job, err)
	}
	if err := d.fill(j.cache, m); err != nil {
		return nil, errors.Join(fmt.Errorf("job %s: %w", job, err), os.RemoveAll(j.dir.Path(job)), d.Close())
	}
	return d, nil
}

// hold makes an empty directory and holds it.
func (j *Jobs) hold(job string) (*Dir, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.dir.Stat(job); !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(err, fmt.Errorf("%s exists", j.dir.Path(job)))
	}
	dir, err := j.dir.Sub(job)
	if err != nil {
		return nil, err
	}
	if held, err := private.Hold(dir.File()); !held || err != nil {
		return nil, errors.Join(err, fmt.Errorf("%s is in use", j.dir.Path(job)), dir.Close())
	}
	return &Dir{name: job, dir: dir}, nil
}

func (d *Dir) fill(c *cache.Cache, m manifest.Manifest) (err error) {
	if d.program, err = lease(c, m.Program); err != nil {
		return err
	}
	programs, err := d.dir.Sub("program")
	if err != nil {
		return err
	}
	defer programs.Close()
	d.exec = programs.Path(m.Program.Name)
	if err := programs.Link(m.Program.Name, c.Path(m.Program.Sum)); err != nil {
		return err
	}
	files, err := d.dir.Sub("files")
	if err != nil {
		return err
	}
	defer files.Close()
	for _, f := range m.Files {
		if err := put(c, files, f, f.Name); err != nil {
			return err
		}
	}
	return nil
}

// lease takes a lease of a file's blob, whose size it knows.
func lease(c *cache.Cache, f manifest.File) (*cache.Blob, error) {
	b, err := c.Lease(f.Sum)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	if b.Size != f.Size {
		return nil, errors.Join(fmt.Errorf("%s is said to have %d bytes, and has %d", f.Name, f.Size, b.Size), b.Close())
	}
	return b, nil
}

// put puts a file at a name below a directory, one component after the other.
func put(c *cache.Cache, in *private.Dir, f manifest.File, name string) error {
	first, rest, deeper := strings.Cut(name, "/")
	if !deeper {
		return copyTo(c, in, f, name)
	}
	sub, err := in.Sub(first)
	if err != nil {
		return err
	}
	defer sub.Close()
	return put(c, sub, f, rest)
}

func copyTo(c *cache.Cache, in *private.Dir, f manifest.File, name string) error {
	b, err := lease(c, f)
	if err != nil {
		return err
	}
	defer b.Close()
	mode := uint32(0o600)
	if f.Exec {
		mode = 0o700
	}
	file, err := in.Open(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, b.File) // in the kernel, and as a shared extent where that exists
	return errors.Join(err, file.Close())
}

// Exec is the path at which the program is executed.
func (d *Dir) Exec() string { return d.exec }

// Program is the program's content, to be inspected.
func (d *Dir) Program() *cache.Blob { return d.program }

// Files is the directory with the files: $GOLAUNCH_FILES.
func (d *Dir) Files() string { return d.dir.Path("files") }

// Held are the descriptors by which directory and program are held. A process that
// inherits them holds both, also when this one has closed them.
func (d *Dir) Held() []*os.File { return []*os.File{d.dir.File(), d.program.File} }

// Close lets go of the directory, which Sweep removes when nobody else holds it.
func (d *Dir) Close() error {
	err := d.dir.Close()
	if d.program != nil {
		err = errors.Join(err, d.program.Close())
	}
	return err
}

// Sweep removes the directories of jobs that nobody holds. Its error is about those
// that could not be removed.
func (j *Jobs) Sweep() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	names, err := j.dir.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		err = errors.Join(err, j.sweepOne(name))
	}
	return err
}

func (j *Jobs) sweepOne(name string) error {
	f, err := j.dir.Open(name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return j.dir.Remove(name)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if idle, err := private.Seize(f); !idle || err != nil {
		return err
	}
	return os.RemoveAll(j.dir.Path(name)) // which follows no link
}
