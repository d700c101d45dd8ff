package uffd

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Errors that callers tell apart with errors.Is.
var (
	// ErrPresent: Fill found a page there.
	ErrPresent = errors.New("the page is there")
	// ErrGone: the view's process has ended, or has unmapped it.
	ErrGone = errors.New("the view is gone")
)

// A Mapping is a rank's own end of a view: the memory that it uses.
type Mapping struct {
	Memory []byte
	// FD is what the pager needs, with Base, to make a View. It is a number and not an
	// os.File, which would have this process's poller look at it.
	FD   int
	Base uintptr
	Way  Way
}

// Create maps a cache in this process, and has every access to a page that is not there
// wait for whoever has the View. An error wraps ErrUnavailable where that cannot be.
func Create(cache *os.File, pages int) (*Mapping, error) {
	fd, way, err := open()
	if err != nil {
		return nil, err
	}
	m := &Mapping{FD: fd, Way: way}
	if m.Memory, err = mapPages(cache, pages); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	m.Base = addressOf(m.Memory)
	if err = register(fd, m.Base, len(m.Memory), registerMissing|registerWP); err == nil {
		err = protect(fd, m.Base, len(m.Memory), protectWP) // the markers
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: registering %d pages with %v: %w", ErrUnavailable, pages, way, err), m.Close())
	}
	return m, nil
}

// Close unmaps the memory: an access from then on is the program's end.
func (m *Mapping) Close() error {
	return errors.Join(os.NewSyscallError("munmap", unix.Munmap(m.Memory)), unix.Close(m.FD))
}

// A View is the pager's end: what a rank sees of a cache. Pages count from its
// beginning; each method but Faults is one system call for all of n pages.
type View struct {
	fd   int
	base uintptr
	page int
}

// NewView returns the view of a Mapping with this FD, as it was received from its
// process, and Base. It owns fd.
func NewView(fd int, base uintptr) *View { return &View{fd, base, os.Getpagesize()} }

// Fd is for waiting: it is readable when there are faults.
func (v *View) Fd() int { return v.fd }

// Close gives the view up. Who waits goes on waiting for as long as the rank has its
// own FD; with the last one the kernel has all try again, and absent pages are zeros.
func (v *View) Close() error { return unix.Close(v.fd) }

// A Fault is an access that waits.
type Fault struct {
	Page      int
	Offset    int  // of the access in the page
	Write     bool // it is a store
	Protected bool // the page is there, and write-protected
	Thread    int  // of the rank's process
}

// Faults takes what is there and returns how many it were; 0: none. It does not wait,
// and allocates nothing.
func (v *View) Faults(faults []Fault) (n int, err error) {
	var messages [16]message
	for n < len(faults) {
		room := min(len(messages), len(faults)-n)
		k, err := read(v.fd, messages[:room])
		switch {
		case err == unix.EAGAIN || err == nil && k == 0:
			return n, nil
		case err == unix.EINTR:
			continue
		case err != nil:
			return n, fmt.Errorf("reading faults: %w", err)
		}
		for _, m := range messages[:k] {
			if m.event == eventPagefault {
				faults[n] = v.fault(&m)
				n++
			}
		}
		if k < room {
			break
		}
	}
	return n, nil
}

func (v *View) fault(m *message) Fault {
	return Fault{
		Page:      (int(m.address) - int(v.base)) / v.page,
		Offset:    int(m.address) % v.page,
		Write:     m.flags&(faultWrite|faultWP) != 0,
		Protected: m.flags&faultWP != 0,
		Thread:    int(m.thread),
	}
}

func (v *View) at(page int) uintptr { return v.base + uintptr(page)*uintptr(v.page) }

// Fill puts content, whole pages, into the cache, maps it here, write-protected, and
// wakes who waits for it here. ErrPresent says that one of the pages is there: those
// before it are filled.
func (v *View) Fill(page int, content []byte) error {
	for done := 0; done < len(content); {
		n, err := fill(v.fd, v.at(page)+uintptr(done), content[done:], copyWP)
		done += n
		if err != nil && err != unix.EAGAIN { // EAGAIN: the rank maps something at the moment
			return v.say("filling", page, len(content)/v.page, err)
		}
	}
	return nil
}

// Protect has stores to n pages wait, and marks those that are not there.
func (v *View) Protect(page, n int) error {
	return v.say("protecting", page, n, v.again(page, n, func(start uintptr, bytes int) error {
		return protect(v.fd, start, bytes, protectWP)
	}))
}

// Unprotect lets stores to n pages go on, and wakes who waits there.
func (v *View) Unprotect(page, n int) error {
	return v.say("unprotecting", page, n, v.again(page, n, func(start uintptr, bytes int) error {
		return protect(v.fd, start, bytes, 0)
	}))
}

// Wake has those who wait at n pages try again.
func (v *View) Wake(page, n int) error {
	return v.say("waking", page, n, v.again(page, n, func(start uintptr, bytes int) error {
		return wake(v.fd, start, bytes)
	}))
}

// again repeats a call while the rank changes its mappings.
func (v *View) again(page, n int, call func(start uintptr, bytes int) error) error {
	for {
		if err := call(v.at(page), n*v.page); err != unix.EAGAIN {
			return err
		}
	}
}

func (v *View) say(what string, page, n int, err error) error {
	switch err {
	case nil:
		return nil
	case unix.ESRCH, unix.ENOENT: // the address space has ended, or the mapping in it
		err = ErrGone
	case unix.EEXIST:
		err = ErrPresent
	}
	return fmt.Errorf("%s pages %d to %d: %w", what, page, page+n-1, err)
}
