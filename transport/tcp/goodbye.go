package tcp

import (
	"bytes"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/tcp/wire"
)

// lingerTime is how long Close waits for peers to take what they were sent, and the
// goodbye behind it.
const lingerTime = time.Second

// sayGoodbye ends all connections: every peer is told, as far as its socket takes
// it.
func (e *endpoint) sayGoodbye() {
	deadline := time.Now().Add(lingerTime)
	for i := range e.peers {
		if p := e.peers[i].Load(); p != nil {
			p.goodbye()
		}
	}
	for i := range e.peers {
		if p := e.peers[i].Load(); p != nil {
			p.linger(deadline)
		}
	}
}

// goodbye drops what has not begun to leave, and lets a Goodbye follow what has.
// Operations in flight end.
func (p *peer) goodbye() {
	p.rx.mu.Lock()
	defer p.rx.mu.Unlock()
	p.tx.mu.Lock()
	defer p.tx.mu.Unlock()
	s := &p.tx
	if !p.ended.CompareAndSwap(nil, &ending{transport.ErrClosed}) {
		return
	}
	p.unlend()
	s.big = bytes.Clone(s.big)
	s.bigOf = nil
	for s.larges.count > 0 {
		s.larges.pop().done = true
	}
	s.replies = ring[reply]{}
	s.requests.fail(p, transport.ErrClosed)
	if p.connected() {
		if b := s.room(p, 0); b != nil {
			s.frame(p, b, &wire.Header{Kind: wire.Goodbye}, 0)
		}
		p.pump()
	}
	p.changed()
}

// linger waits until everything has come to the peer's system, and closes the socket.
func (p *peer) linger(deadline time.Time) {
	p.tx.mu.Lock()
	secure := p.secure
	p.tx.mu.Unlock()
	if secure != nil {
		secure.finish(deadline)
	}
	p.rx.mu.Lock()
	defer p.rx.mu.Unlock()
	p.tx.mu.Lock()
	defer p.tx.mu.Unlock()
	for p.fd >= 0 && p.tx.blocked.Load() && p.tx.broken == nil {
		left := time.Until(deadline)
		if left <= 0 {
			break
		}
		fds := []unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLOUT}}
		_, _ = unix.Poll(fds, int(left/time.Millisecond)+1)
		p.tx.blocked.Store(false)
		p.pump()
	}
	if p.fd >= 0 && p.tx.broken == nil {
		settle(p.fd, deadline)
	}
	p.releaseBuffers()
	p.closeSocket()
}

// settle waits until the peer's system has taken what was written to a socket, or the
// peer has closed its end, as it does when it reads the goodbye. What it sends meanwhile
// is dropped: a socket that is closed with something unread, or that something comes to
// afterwards, is reset, and what has not left by then is lost.
func settle(fd int, deadline time.Time) {
	var dropped [4 << 10]byte
	for {
		if n, err := unix.IoctlGetInt(fd, unix.SIOCOUTQ); err != nil || n == 0 {
			return
		}
		n, err := unix.Read(fd, dropped[:])
		left := time.Until(deadline)
		switch {
		case left <= 0 || n == 0 && err == nil:
			return
		case err == unix.EAGAIN:
			fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			_, _ = unix.Poll(fds, int(left/time.Millisecond)+1)
		case err != nil && err != unix.EINTR:
			return
		}
	}
}

// close ends watching. No socket is watched any more.
func (w *watcher) close() {
	w.e.poll.mu.Lock()
	defer w.e.poll.mu.Unlock()
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	_ = w.file.Close() // and run closes the other one
}
