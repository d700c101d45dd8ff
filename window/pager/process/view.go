package process

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/window/coherence"
	"github.com/golaunch/golaunch/window/pager/stride"
	"github.com/golaunch/golaunch/window/pager/uffd"
)

// A view is what one rank sees of a space.
type view struct {
	*uffd.View
	space  *space
	member *member
	// board is shared with the rank: what it may do with each page, as a hint. A page that
	// is taken away the moment after it was looked at faults.
	board  []byte
	walk   stride.Detector
	gone   bool // its rank has ended, has unmapped it, or has none
	faults [16]uffd.Fault
}

// newBoard makes the board of a view, and the descriptor by which the rank maps it.
func newBoard(pages int) (board []byte, fd int, err error) {
	fd, err = unix.MemfdCreate("golaunch board", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, -1, err
	}
	if err = unix.Ftruncate(fd, int64(pages)); err == nil {
		board, err = unix.Mmap(fd, 0, pages, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err != nil {
		return nil, -1, errors.Join(err, unix.Close(fd))
	}
	return board, fd, nil
}

// isCarried reports whether the rank watches no pages, so that this process does for it
// what it wants done.
func (v *view) isCarried() bool { return v.View == nil }

func (v *view) close() error {
	err := unix.Munmap(v.board)
	if v.View != nil {
		err = errors.Join(err, v.View.Close())
	}
	return err
}

// settled notes that the view is gone, which is no error: its rank has died, or is about
// to say goodbye.
func (v *view) settled(err error) error {
	if errors.Is(err, uffd.ErrGone) {
		v.gone = true
		return nil
	}
	return err
}

// take reads the faults of the view's rank.
func (v *view) take() error {
	for {
		n, err := v.Faults(v.faults[:])
		if err != nil {
			return err
		}
		for _, f := range v.faults[:n] {
			if err := v.fault(f); err != nil {
				return err
			}
		}
		if n < len(v.faults) {
			return nil
		}
	}
}

func (v *view) fault(f uffd.Fault) error {
	s, p := v.space, coherence.Page(f.Page)
	if f.Write {
		s.counts.WriteFaults++
	} else {
		s.counts.ReadFaults++
	}
	s.waiters.add(p, waiter{view: v, write: f.Write, fault: true})
	s.wanted(p, f.Offset)
	return v.miss(p, f.Write)
}

// faultOf is what happens when a page is missed.
func faultOf(write bool) coherence.Kind {
	if write {
		return coherence.WriteFault
	}
	return coherence.ReadFault
}

// miss tells the machine of a page that somebody waits for in this view, and asks for
// those that will follow. To ask is to touch: where nobody has, a guess that something will be
// written must not decide where it is stored.
func (v *view) miss(p coherence.Page, write bool) error {
	s := v.space
	absent := !s.host.State(p).Readable()
	if err := s.happens(faultOf(write), p); err != nil || !absent {
		return err
	}
	ahead := v.walk.Miss(uint32(p), s.spec.Pages)
	for i := range ahead.N {
		next := coherence.Page(int(ahead.First) + i*ahead.Stride)
		if _, known := s.host.Home(next); write && !known {
			continue
		}
		if err := v.prefetch(next, write); err != nil {
			return err
		}
	}
	return nil
}

// prefetch asks for a page that nobody waits for yet, if there is room for it.
func (v *view) prefetch(p coherence.Page, write bool) error {
	s := v.space
	state := s.host.State(p)
	if state.Writable() || !write && state.Readable() {
		return nil
	}
	kind := coherence.PrefetchRead
	if write {
		kind = coherence.PrefetchWrite
	}
	if err := s.happens(kind, p); err != nil || s.host.State(p) == coherence.Invalid {
		return err
	}
	s.counts.Prefetched++
	s.waiters.add(p, waiter{view: v, write: write})
	return nil
}
