package process

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/golaunch/golaunch/window/coherence"
	"github.com/golaunch/golaunch/window/pager/line"
)

// What the pager does with pages for ranks that may not watch any (uffd.ErrUnavailable): it
// does so through its own mapping of the cache, while the host may read, or write, the
// page. Ranks that watch theirs may use it at the same time: a Swap is the CPU's.
//
// The one use of unsafe: a word of the cache, for sync/atomic. It is aligned, because the
// page is and check has looked at the offset, and mapped as long as the space is.

// access begins a Load, Store or Swap.
func (s *space) access(v *view, f line.Frame) error {
	if err := s.checkAccess(f); err != nil {
		v.member.refuse(f.ID, err.Error())
		return nil
	}
	f.Body = append([]byte(nil), f.Body...)
	r := &request{member: v.member, id: f.ID, left: 1, access: &f, space: s}
	if err := r.await(v, coherence.Page(f.First), f.Kind != line.Load); err != nil {
		return err
	}
	r.arrived()
	return nil
}

// checkAccess holds a rank's access against the page.
func (s *space) checkAccess(f line.Frame) error {
	n, size := uint64(len(f.Body)), uint64(s.g.contents.pageSize)
	switch f.Kind {
	case line.Load:
		if n != 2 {
			return fmt.Errorf("a load with a length of %d bytes", n)
		}
		n = uint64(binary.LittleEndian.Uint16(f.Body))
	case line.Swap:
		if n != 16 || f.N%8 != 0 {
			return fmt.Errorf("a swap of %d bytes at offset %d", n, f.N)
		}
		n = 8
	}
	if f.First >= s.spec.Pages || uint64(f.N)+n > size {
		return fmt.Errorf("%d bytes at offset %d of page %d: there are %d pages of %d bytes", n, f.N, f.First, s.spec.Pages, size)
	}
	return nil
}

// carryOut does what was asked, and returns the answer. It may be read, or written: that was
// seen with mu held, and nothing has happened since.
func (r *request) carryOut() []byte {
	f := r.access
	at := r.space.cache.Page(int(f.First))[f.N:]
	switch f.Kind {
	case line.Load:
		return at[:binary.LittleEndian.Uint16(f.Body)]
	case line.Store:
		copy(at, f.Body)
		return nil
	}
	word := (*uint64)(unsafe.Pointer(&at[0]))
	expect, replacement := binary.NativeEndian.Uint64(f.Body), binary.NativeEndian.Uint64(f.Body[8:])
	for {
		found := atomic.LoadUint64(word)
		if found != expect || atomic.CompareAndSwapUint64(word, expect, replacement) {
			return binary.NativeEndian.AppendUint64(nil, found)
		}
	}
}
