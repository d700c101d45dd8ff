package tcp

import (
	"sync"

	"golang.org/x/sys/unix"
)

// Between ranks of one host what a long Get brings, and a Put that is neither short nor
// very long, are lent to the kernel instead of being copied into the socket: their pages
// pass through a pipe into the socket's queue, and the peer's read copies them from where
// they are. That is one copy instead of two, and both ends no longer pass the kernel's
// own pages from one processor's cache to the other's. Where the kernel does not do that
// they are copied.
//
// Who lends must leave the payload alone until the peer has it: a Put returns when it was
// acknowledged, so a message that follows would come late, and none is lent with one.
// A Get's memory is the target's, which changes it during the Get at its own risk, as ever.

const (
	// lentBytes is the shortest payload that is lent: a page costs a sixth of its copy,
	// and waiting for the Ack a round trip.
	lentBytes = 512 << 10
	// lentPut is the longest Put that is. A sender that copies is slower than the
	// receiver: 1 MiB takes 127 us copied and 97 lent. But what is in no cache both copy
	// at the same time: on some machines 16 MiB take 4.0 ms copied and 5.2 lent.
	lentPut = 2 << 20
	// pipeBytes is what a pipe is to hold. The system grants an unprivileged user's
	// processes some 64 pipes of that size.
	pipeBytes = 1 << 20
	// pourBytes is how much goes into a pipe at once: the peer begins to read it while
	// the rest follows.
	pourBytes = pipeBytes / 2
	// mostPipes is how many an endpoint has: connections have one only while a long
	// payload leaves.
	mostPipes = 4
)

// A pipe is pages on their way into a socket.
type pipe struct {
	in, out int // descriptors
	held    int // bytes in it
}

// pour lets b leave through the socket, beginning with what the pipe holds. It
// returns how much has left, less than all with unix.EAGAIN if the socket is full.
//
// Precondition: p holds a beginning of b.
func (p *pipe) pour(fd int, b []byte) (left int, errno unix.Errno) {
	for left < len(b) {
		if rest := b[left+p.held:]; len(rest) > 0 && p.held < pourBytes {
			n, errno := vmsplice(p.in, rest[:min(len(rest), pourBytes-p.held)])
			if errno != 0 && errno != unix.EAGAIN {
				return left, errno
			}
			p.held += n
		}
		n, errno := splice(p.out, fd, p.held)
		if errno != 0 {
			return left, errno
		}
		p.held -= n
		left += n
	}
	return left, 0
}

func (p *pipe) close() { _, _ = unix.Close(p.in), unix.Close(p.out) }

// pipes are an endpoint's.
type pipes struct {
	mu     sync.Mutex
	free   []*pipe
	made   int
	closed bool
}

// get returns an empty pipe, nil if there is none.
func (s *pipes) get() *pipe {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := len(s.free) - 1; last >= 0 {
		p := s.free[last]
		s.free = s.free[:last]
		return p
	}
	if s.made == mostPipes || s.closed {
		return nil
	}
	p := newPipe()
	if p == nil {
		s.made = mostPipes // it will not do better the next time
		return nil
	}
	s.made++
	return p
}

// newPipe returns a pipe that holds enough to be worth while, nil if that is not to
// be had.
func newPipe() *pipe {
	var ends [2]int
	if unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK) != nil {
		return nil
	}
	p := &pipe{out: ends[0], in: ends[1]}
	if n, err := unix.FcntlInt(uintptr(p.in), unix.F_SETPIPE_SZ, pipeBytes); err != nil || n < pipeBytes {
		p.close()
		return nil
	}
	return p
}

// put takes a pipe back. One that still holds something is not used again.
func (s *pipes) put(p *pipe) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.held > 0 || s.closed {
		p.close()
		s.made--
		return
	}
	s.free = append(s.free, p)
}

// close closes those that are not in use; the others follow.
func (s *pipes) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, p := range s.free {
		p.close()
	}
	s.made -= len(s.free)
	s.free = nil
}

// lends reports whether a payload of n bytes for p is lent. Called with tx.mu held.
func (p *peer) lends(n int) bool { return p.near && n >= lentBytes }

// lend has big, if it is long, leave through a pipe. Called with tx.mu held.
func (p *peer) lend() {
	if s := &p.tx; p.lends(len(s.big)) {
		s.pipe = p.e.pipes.get()
	}
}

// unlend ends that; what of big has not left is copied. Called with tx.mu held.
func (p *peer) unlend() {
	if s := &p.tx; s.pipe != nil {
		p.e.pipes.put(s.pipe)
		s.pipe = nil
	}
}

// writeLent writes out, big through the pipe, or copied if the kernel refuses, and next.
func (p *peer) writeLent(out []byte) (n int, errno unix.Errno) {
	s := &p.tx
	if len(out) > 0 {
		if n, errno = sendMore(p.fd, out); errno != 0 || n < len(out) {
			return n, errno
		}
	}
	k, errno := s.pipe.pour(p.fd, s.big)
	if errno != 0 && errno != unix.EAGAIN {
		p.unlend()
		if k == 0 {
			k, errno = send(p.fd, s.big)
		}
	}
	if n += k; k == len(s.big) && len(s.next.b) > 0 {
		if k, _ = send(p.fd, s.next.b); k > 0 {
			n += k
		}
	}
	if n > 0 {
		return n, 0
	}
	return 0, errno
}
