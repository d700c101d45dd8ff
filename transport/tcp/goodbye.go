package tcp

import (
	"bytes"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/tcp/wire"
)

// lingerTime is how long Close waits for goodbyes to leave.
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

// linger waits until everything has left, and closes the socket.
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
	p.releaseBuffers()
	p.closeSocket()
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
