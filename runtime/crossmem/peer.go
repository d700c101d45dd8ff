//go:build linux

package crossmem

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// longest is how many bytes one system call may move. The kernel stops at
// 0x7ffff000; a round number below that keeps pieces aligned.
const longest = 1 << 30

// A Peer is another process of this host, or this one.
type Peer struct {
	pid   int
	piece int // bytes of one system call; tests lower it
}

// NewPeer returns the process with a process id, as this process's namespace
// numbers it.
func NewPeer(pid int) Peer { return Peer{pid: pid, piece: longest} }

// Read fills dst from the peer's memory at an address that it has published. After
// an error any part of dst may have been written.
func (p Peer) Read(dst []byte, from Address) error {
	for done := 0; done < len(dst); {
		here, there := vectors(dst[done:min(len(dst), done+p.piece)], from.Plus(done))
		n, err := retry(func() (int, error) {
			return unix.ProcessVMReadv(p.pid, []unix.Iovec{here}, []unix.RemoteIovec{there}, 0)
		})
		if err != nil || n == 0 {
			return &Error{Op: "reading", PID: p.pid, At: from.Plus(done), Bytes: len(dst) - done, Err: orFault(err)}
		}
		done += n
	}
	return nil
}

// Write copies src to the peer's memory at an address that it has published. After
// an error any part may have been written.
func (p Peer) Write(to Address, src []byte) error {
	for done := 0; done < len(src); {
		here, there := vectors(src[done:min(len(src), done+p.piece)], to.Plus(done))
		n, err := retry(func() (int, error) {
			return unix.ProcessVMWritev(p.pid, []unix.Iovec{here}, []unix.RemoteIovec{there}, 0)
		})
		if err != nil || n == 0 {
			return &Error{Op: "writing", PID: p.pid, At: to.Plus(done), Bytes: len(src) - done, Err: orFault(err)}
		}
		done += n
	}
	return nil
}

// retry does a call again that a signal interrupted before it moved anything.
func retry(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); err != unix.EINTR {
			return n, err
		}
	}
}

// orFault names what the kernel reports as nothing moved.
func orFault(err error) error {
	if err == nil {
		return unix.EFAULT
	}
	return err
}

// Probe reads the word that the peer's Token is at, and compares it. An error says
// why this process cannot use the peer's memory.
func (p Peer) Probe(at Address, value uint64) error {
	var word [8]byte
	if err := p.Read(word[:], at); err != nil {
		return err
	}
	if got := binary.NativeEndian.Uint64(word[:]); got != value {
		return fmt.Errorf("process %d: its word at %#x is %#x, want %#x: it is another process", p.pid, uint64(at), got, value)
	}
	return nil
}

// Allow lets the descendants of the process that started this one use its memory,
// where Yama (ptrace_scope 1) keeps that for ancestors. Where there is no Yama it
// does nothing.
func Allow() error {
	err := unix.Prctl(unix.PR_SET_PTRACER, uintptr(os.Getppid()), 0, 0, 0)
	if err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("letting the job's processes use this one's memory: %w", err)
	}
	return nil
}
