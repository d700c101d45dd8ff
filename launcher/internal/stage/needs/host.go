package needs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// An Unmet need is what a file needs and a host lacks.
type Unmet struct {
	Host, File string
	Needs      string // what it needs
	Has        string // what the host has of it
}

func (e *Unmet) Error() string {
	return fmt.Sprintf("%s: %s needs %s, the host has %s", e.Host, e.File, e.Needs, e.Has)
}

// CheckArch compares a platform with a host's GOARCH: what can be told from afar.
func (n Needs) CheckArch(host, file, goarch string) error {
	has, known := Of(goarch)
	switch {
	case n.Platform == Platform{} || known && n.Platform == has:
		return nil
	case !known:
		return &Unmet{host, file, n.Platform.String(), goarch}
	}
	return &Unmet{host, file, n.Platform.String(), has.String()}
}

// maxNesting is how many interpreters the kernel follows from one to the next.
const maxNesting = 4

// CheckHere reports whether this machine can execute a file with such needs:
// the platform, and interpreters, which must exist and be executable themselves.
// host and file are for the error, which is an [*Unmet] unless something cannot be
// looked at.
func (n Needs) CheckHere(host, file string) error {
	return n.checkUnder("", host, file, maxNesting)
}

// checkUnder takes paths as below root.
func (n Needs) checkUnder(root, host, file string, nesting int) error {
	if err := n.CheckArch(host, file, runtime.GOARCH); err != nil {
		return err
	}
	if n.Interpreter == "" {
		return nil
	}
	if nesting == 0 {
		return &Unmet{host, file, fmt.Sprintf("more than %d interpreters of interpreters", maxNesting), "a kernel that refuses"}
	}
	f, err := openProgram(root + n.Interpreter)
	if err != nil {
		return &Unmet{host, file, "the interpreter " + n.Interpreter, lacking(err)}
	}
	defer f.Close()
	next, err := inspectFile(f)
	if err != nil {
		return &Unmet{host, file, "the interpreter " + n.Interpreter, "there: " + err.Error()}
	}
	if n.Platform != (Platform{}) {
		return nil // a dynamic linker is loaded, not executed: what it names does not count
	}
	return next.checkUnder(root, host, n.Interpreter, nesting-1)
}

var errNotExecutable = errors.New("a file that cannot be executed")

func lacking(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no such file"
	case errors.Is(err, errNotExecutable):
		return errNotExecutable.Error()
	}
	return "it, but: " + err.Error()
}

// openProgram opens a regular file that may be executed.
func openProgram(path string) (*os.File, error) {
	if err := unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS); err == unix.EACCES {
		return nil, errNotExecutable
	}
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(errNotExecutable, f.Close())
	}
	return f, nil
}

func inspectFile(f *os.File) (Needs, error) {
	info, err := f.Stat()
	if err != nil {
		return Needs{}, err
	}
	return Inspect(f, info.Size())
}
