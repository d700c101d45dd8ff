//go:build cgo && linux

package forking

/*
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

// The child has one thread and Go's heap but no Go runtime: it does nothing but wait
// and write.
static int forked(int asked, int told, const void *mem, size_t n, pid_t *pid) {
	*pid = fork();
	if (*pid)
		return *pid < 0 ? errno : 0;
	char one;
	while (read(asked, &one, 1) < 0 && errno == EINTR) {}
	for (const char *at = mem, *end = at + n; at < end;) {
		ssize_t wrote = write(told, at, end - at);
		if (wrote <= 0)
			_exit(1);
		at += wrote;
	}
	_exit(0);
}

static int reap(pid_t pid, int *status) {
	while (waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			return errno;
	return 0;
}
*/
import "C"

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"unsafe"
)

// A Child is a process that fork has made. It shares every page of this one, until one
// of the two writes to it.
type Child struct {
	pid      C.pid_t
	ask, say *os.File
}

// Fork makes a child that does nothing until Memory is called. mem is not Go's heap.
func Fork(mem []byte) (c *Child, err error) {
	asked, ask, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer asked.Close()
	say, told, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, ask.Close())
	}
	defer told.Close()
	c = &Child{ask: ask, say: say}
	rc := C.forked(C.int(asked.Fd()), C.int(told.Fd()), unsafe.Pointer(unsafe.SliceData(mem)), C.size_t(len(mem)), &c.pid)
	if rc != 0 {
		return nil, errors.Join(fmt.Errorf("fork: %w", syscall.Errno(rc)), ask.Close(), say.Close())
	}
	return c, nil
}

// Memory ends the child and returns what it saw where mem was. Nothing, if it had no
// memory there.
func (c *Child) Memory() ([]byte, error) {
	if _, err := c.ask.Write([]byte{1}); err != nil {
		return nil, err
	}
	seen, err := io.ReadAll(c.say)
	var status C.int
	if rc := C.reap(c.pid, &status); rc != 0 {
		err = errors.Join(err, fmt.Errorf("waitpid: %w", syscall.Errno(rc)))
	}
	return seen, errors.Join(err, c.ask.Close(), c.say.Close())
}
