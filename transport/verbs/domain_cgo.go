//go:build cgo && linux

package verbs

// #include <stdlib.h>
// #include "verbs_cgo.h"
import "C"

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A domain is a protection domain: what is registered in it can be used by its queue
// pairs only.
type domain struct {
	device *device
	c      *C.struct_ibv_pd
}

func newDomain(d *device) (*domain, error) {
	p := &domain{device: d}
	return p, result("ibv_alloc_pd", C.v_alloc_pd(d.lib.c, d.c, &p.c))
}

func (p *domain) close() error { return result("ibv_dealloc_pd", C.v_dealloc_pd(p.device.lib.c, p.c)) }

// memory is registered memory. It holds mem and pins it, so that the pages stay this
// program's as long as the device may write to them.
type memory struct {
	mem        []byte
	pin        runtime.Pinner
	c          *C.struct_ibv_mr
	domain     *domain
	lkey, rkey uint32
}

// register has the device know mem, which is not empty. remote: peers may read and
// write it.
func (p *domain) register(mem []byte, remote bool) (*memory, error) {
	m := &memory{mem: mem, domain: p}
	var lkey, rkey C.uint32_t
	var access C.int
	if remote {
		access = 1
	}
	err := result("ibv_reg_mr", C.v_reg_mr(p.device.lib.c, p.c, C.uintptr_t(addressOf(mem)), C.size_t(len(mem)), access, &m.c, &lkey, &rkey))
	if err != nil {
		return nil, fmt.Errorf("%w%s", err, lockedMemory(err, len(mem)))
	}
	m.lkey, m.rkey = uint32(lkey), uint32(rkey)
	m.pin.Pin(unsafe.SliceData(mem))
	return m, nil
}

// lockedMemory says what to do about a limit that registering has run into.
func lockedMemory(err error, n int) string {
	var limit unix.Rlimit
	if !errors.Is(err, syscall.ENOMEM) && !errors.Is(err, syscall.EPERM) || unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit) != nil || limit.Cur == math.MaxUint64 {
		return ""
	}
	return fmt.Sprintf(" (%d bytes are to be locked, and this process may lock %d in all: raise RLIMIT_MEMLOCK, by ulimit -l or LimitMEMLOCK)", n, limit.Cur)
}

func (m *memory) close() error {
	defer m.pin.Unpin()
	return result("ibv_dereg_mr", C.v_dereg_mr(m.domain.device.lib.c, m.c))
}

// address is where mem is, as the device and peers know it.
func (m *memory) address() uint64 { return addressOf(m.mem) }

// addressOf is a number, because the memory may be anybody's: cgo's rule for pointers
// would look at all of the object that it lies in. Who passes it to C keeps mem alive.
func addressOf(mem []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(mem)))) }

// words lays 8-byte words over mem, which begins at a word boundary.
func words(mem []byte) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(mem))), len(mem)/8)
}

func free(s *C.char) { C.free(unsafe.Pointer(s)) }
