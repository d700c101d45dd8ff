package netns

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// A space is a network namespace, and the thread that is in it.
type space struct {
	work  chan func()
	done  chan struct{} // closed when the thread has ended its work
	file  *os.File      // the namespace
	inode uint64
	links *routeSocket
}

// newSpace makes a namespace in which only a loopback interface exists, and is up.
func newSpace() (*space, error) {
	s := &space{work: make(chan func()), done: make(chan struct{})}
	ready := make(chan error, 1)
	go offMain(func() { s.run(ready) })
	if err := <-ready; err != nil {
		return nil, errors.Join(err, s.release())
	}
	if err := s.links.change("lo", unix.IFF_UP, unix.IFF_UP); err != nil {
		return nil, errors.Join(fmt.Errorf("lo: %w", err), s.close())
	}
	return s, nil
}

// offMain runs f on a locked thread other than the process's first, whose
// namespace is the one that the process is seen in. f's thread ends with f.
func offMain(f func()) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		f()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		f()
	}()
	<-done
	runtime.UnlockOSThread()
}

// run is the thread's life. It does not unlock: the thread, which is in the wrong
// network for everybody else, ends with the goroutine.
func (s *space) run(ready chan<- error) {
	defer close(s.done)
	err := s.enter()
	ready <- err
	if err != nil {
		return
	}
	for f := range s.work {
		f()
	}
}

func (s *space) enter() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return os.NewSyscallError("unshare", err)
	}
	var err error
	if s.file, err = os.Open("/proc/thread-self/ns/net"); err != nil {
		return err
	}
	var stat unix.Stat_t
	if err := unix.Fstat(int(s.file.Fd()), &stat); err != nil {
		return os.NewSyscallError("fstat", err)
	}
	s.inode = stat.Ino
	s.links, err = openRoute()
	return err
}

// do runs f on the namespace's thread.
func (s *space) do(f func() error) error {
	result := make(chan error, 1)
	s.work <- func() { result <- f() }
	return <-result
}

// close ends the thread, and with it every process that it has forked. The
// namespace ends when no process is in it any more.
func (s *space) close() error {
	close(s.work)
	<-s.done
	return s.release()
}

func (s *space) release() error {
	var err error
	if s.links != nil {
		err = s.links.close()
	}
	if s.file != nil {
		err = errors.Join(err, s.file.Close())
	}
	return err
}
