package tcp

import (
	"crypto/tls"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// An encrypted connection is read by one goroutine and written by another, with
// the blocking calls of crypto/tls: what is in the socket is of use to nobody
// else. The writer takes what the sender has gathered; payloads of Puts are copied
// there, because a caller may leave while it writes.

// encryptedPiece is the longest payload of a Put, and of what is asked for at
// once: about a TLS record.
const encryptedPiece = 15 << 10

// An encrypted is the connection of a peer, with Encrypt.
type encrypted struct {
	conn    *tls.Conn
	socket  tcpSocket
	kick    chan struct{} // there is something to write
	last    atomic.Bool   // it ends with what there is
	dropped atomic.Bool   // it is closed
	ended   chan struct{} // closed when the writer has ended
	parted  chan struct{} // closed when the reader has, because the socket has
	writing bool          // it reads the sender's buffer without the lock; guarded by sender.mu
}

// takeEncrypted starts the two goroutines. Called with tx.mu held, by a goroutine
// of the endpoint.
func (p *peer) takeEncrypted(conn *tls.Conn) error {
	socket, ok := conn.NetConn().(tcpSocket)
	if !ok {
		return fmt.Errorf("a connection over %T", conn.NetConn())
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var failure error
	err = raw.Control(func(fd uintptr) { failure = setOptions(int(fd), p.e.timeout) })
	if err == nil {
		err = failure
	}
	if err != nil {
		return err
	}
	p.secure = &encrypted{conn: conn, socket: socket, kick: make(chan struct{}, 1), ended: make(chan struct{}), parted: make(chan struct{})}
	p.e.running.Add(2)
	go p.readEncrypted(p.secure)
	go p.writeEncrypted(p.secure)
	return nil
}

// A tcpSocket is what a *net.TCPConn has, and what wraps one.
type tcpSocket interface {
	net.Conn
	syscall.Conn
	CloseRead() error
}

func (x *encrypted) wake() {
	select {
	case x.kick <- struct{}{}:
	default:
	}
}

// drop closes the connection under both goroutines. There is no TLS farewell: a
// Goodbye has said as much, or there is nobody to hear it.
func (x *encrypted) drop() {
	x.dropped.Store(true)
	_ = x.socket.Close()
	x.wake()
}

// readEncrypted reads until the socket ends; see settle.
func (p *peer) readEncrypted(x *encrypted) {
	defer p.e.running.Done()
	defer close(x.parted)
	scratch := make([]byte, encryptedPiece+1<<10)
	for err := error(nil); err == nil; {
		var n int
		n, err = x.conn.Read(scratch)
		p.rx.mu.Lock()
		p.takeIn(scratch[:n], err)
		p.rx.mu.Unlock()
		p.e.tell()
	}
}

// takeIn deals with what a Read returned. Called with rx.mu held.
func (p *peer) takeIn(b []byte, err error) {
	if p.end() != nil {
		return
	}
	ordered()
	p.rx.bytes.Add(uint64(len(b)))
	if wrong := p.rx.reader.Feed(b, p); wrong != nil {
		p.endBy(wrong)
		return
	}
	if p.rx.poke {
		p.afterRead()
	}
	if err != nil {
		p.endBy(failed("reading", err))
	}
}

func (p *peer) writeEncrypted(x *encrypted) {
	defer p.e.running.Done()
	defer close(x.ended)
	for range x.kick {
		for p.writeOnce(x) {
		}
		if x.last.Load() || x.dropped.Load() {
			return
		}
	}
}

// writeOnce writes what there is, and tells whether that was anything.
func (p *peer) writeOnce(x *encrypted) bool {
	s := &p.tx
	s.mu.Lock()
	if x.dropped.Load() || s.broken != nil {
		s.mu.Unlock()
		return false
	}
	p.fill()
	s.ask(&s.out)
	out, big := s.out.rest(), s.big
	if len(out)+len(big) == 0 {
		p.releaseBuffers()
		s.mu.Unlock()
		return false
	}
	x.writing = true
	s.mu.Unlock()
	ordered()
	_, err := x.conn.Write(out)
	if err == nil && len(big) > 0 {
		_, err = x.conn.Write(big)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x.writing = false
	switch {
	case err != nil:
		s.broken = failed("writing", err)
		_ = x.socket.CloseRead() // reading ends the peer
		return false
	case !x.dropped.Load():
		p.advance(len(out) + len(big))
		p.changed()
	}
	return true
}

// finish waits until the writer has written what there is, and the peer has closed its
// end.
func (x *encrypted) finish(deadline time.Time) {
	x.last.Store(true)
	x.wake()
	_ = x.socket.SetDeadline(deadline)
	<-x.ended
	<-x.parted
}
