package foreign

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/transport"
)

// A pinning registrar does what a NIC does, with the kernel's help: registered memory
// is a fixed buffer of an io_uring, whose pages are pinned when it is registered, and
// what is written to it goes to those pages, whatever the addresses mean by then.
//
// The uses of unsafe: the rings are shared with the kernel, mapped for as long as the
// pinned exists, and of the layout that io_uring_setup(2) tells; addresses given to the
// kernel are of mapped memory, or of variables that live until the call has returned.
type pinning struct{ t *testing.T }

type pinned struct {
	ring, entries []byte
	fd            int
	sq, cq        [10]uint32 // offsets: struct io_sqring_offsets, io_cqring_offsets
	start         unsafe.Pointer
	bytes         int
	source        *os.File
}

func (p *pinning) Register(_ uint64, _ int64, mem []byte) (transport.Region, error) {
	var params [30]uint32 // struct io_uring_params
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 2, uintptr(unsafe.Pointer(&params)), 0)
	if errno != 0 {
		return nil, fmt.Errorf("io_uring_setup: %w", errno)
	}
	r := &pinned{fd: int(fd), start: unsafe.Pointer(unsafe.SliceData(mem)), bytes: len(mem), sq: [10]uint32(params[10:]), cq: [10]uint32(params[20:])}
	iov := unix.Iovec{Base: unsafe.SliceData(mem)}
	iov.SetLen(len(mem))
	_, _, errno = unix.Syscall6(unix.SYS_IO_URING_REGISTER, fd, 0, uintptr(unsafe.Pointer(&iov)), 1, 0, 0)
	if errno != 0 {
		return nil, errors.Join(fmt.Errorf("io_uring_register: %w", errno), unix.Close(r.fd))
	}
	var err1, err2, err3 error
	r.ring, err1 = unix.Mmap(r.fd, 0, int(max(r.cq[5]+16*params[1], r.sq[6]+4*params[0])), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	r.entries, err2 = unix.Mmap(r.fd, 0x10000000, 64*int(params[0]), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	source, err3 := os.CreateTemp(p.t.TempDir(), "")
	r.source = source
	return r, errors.Join(err1, err2, err3)
}

func (r *pinned) Remote() transport.Remote {
	return transport.Remote{Key: uint64(r.fd), Len: int64(r.bytes)}
}

func (r *pinned) Close() error {
	return errors.Join(unix.Munmap(r.ring), unix.Munmap(r.entries), unix.Close(r.fd), r.source.Close())
}

func (r *pinned) word(at uint32) *uint32 { return (*uint32)(unsafe.Pointer(&r.ring[at])) }

// write is what a peer's Put is: the bytes go to the pinned pages.
func (r *pinned) write(src []byte) error {
	if _, err := r.source.WriteAt(src, 0); err != nil {
		return err
	}
	e := r.entries[:64] // struct io_uring_sqe
	clear(e)
	e[0] = 4 // IORING_OP_READ_FIXED
	binary.NativeEndian.PutUint32(e[4:], uint32(r.source.Fd()))
	binary.NativeEndian.PutUint64(e[16:], uint64(uintptr(r.start)))
	binary.NativeEndian.PutUint32(e[24:], uint32(len(src)))
	tail := r.word(r.sq[1])
	*r.word(r.sq[6] + 4*(*tail&*r.word(r.sq[2]))) = 0
	atomic.AddUint32(tail, 1)
	if _, _, errno := unix.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(r.fd), 1, 1, 1, 0, 0); errno != 0 {
		return fmt.Errorf("io_uring_enter: %w", errno)
	}
	head := r.word(r.cq[0])
	result := int32(binary.NativeEndian.Uint32(r.ring[r.cq[5]+16*(*head&*r.word(r.cq[2]))+8:]))
	atomic.AddUint32(head, 1)
	if result != int32(len(src)) {
		return fmt.Errorf("%d bytes were written: %w", result, unix.Errno(max(0, -result)))
	}
	return nil
}

// mapAt maps new memory at an address, where something may be mapped; nil: anywhere.
func mapAt(t *testing.T, at unsafe.Pointer, bytes int) []byte {
	t.Helper()
	flags := unix.MAP_PRIVATE | unix.MAP_ANON
	if at != nil {
		flags |= unix.MAP_FIXED
	}
	p, err := unix.MmapPtr(-1, 0, at, uintptr(bytes), unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		t.Fatal(err)
	}
	return unsafe.Slice((*byte)(p), bytes)
}

// Unmap, remap at the same address, remote write. With Invalidate the write goes to
// the new memory. Without it, it goes to pages that nobody has any more: the corruption
// is real, and the test can fail.
func TestUnmapRemapRemoteWrite(t *testing.T) {
	c := New(Config{Registrar: &pinning{t}, Limit: 1 << 30})
	const bytes = 64 << 10
	mem := mapAt(t, nil, bytes)
	at := unsafe.Pointer(unsafe.SliceData(mem))
	put := func(v byte) bool {
		t.Helper()
		use, ok, err := c.Acquire(mem)
		if err != nil && errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) {
			t.Skipf("no io_uring here: %v", err)
		}
		if err != nil || !ok {
			t.Fatalf("%v, %v", ok, err)
		}
		src := make([]byte, bytes)
		for i := range src {
			src[i] = v
		}
		if err := use.entry.Value.(*pinned).write(src); err != nil {
			t.Fatal(err)
		}
		if err := use.Release(); err != nil {
			t.Fatal(err)
		}
		return mem[0] == v && mem[bytes-1] == v
	}
	adopt := func() {
		if err := c.Adopt(mem); err != nil {
			t.Fatal(err)
		}
	}
	adopt()
	if !put(1) || !put(2) {
		t.Fatal("what was put did not arrive")
	}
	mapAt(t, at, bytes)
	if put(3) {
		t.Error("without Invalidate the write arrives: the test shows nothing")
	}
	if err := c.Invalidate(mem); err != nil {
		t.Fatal(err)
	}
	mapAt(t, at, bytes)
	adopt()
	if !put(4) {
		t.Error("the write went to pages that were unmapped before it")
	}
	if f := c.Figures(); f.Misses != 2 || f.Hits != 2 {
		t.Errorf("%+v", f)
	}
	if err := errors.Join(c.Close(), unix.MunmapPtr(at, bytes)); err != nil {
		t.Error(err)
	}
}
