package handshake

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"time"
)

// A Listener is where the other ranks of the job find this one.
type Listener struct {
	answers answerer
	timeout time.Duration
	sockets []*net.TCPListener
	pending *pending

	finished chan arrival // unbuffered: whoever is in it has a goroutine
	closing  chan struct{}
	once     sync.Once
	running  sync.WaitGroup
}

type arrival struct {
	conn net.Conn
	peer int
}

// Listen listens at the addresses, as rank me. Those of port 0 get one and the
// same port, which the system chooses; an unspecified address, of either family,
// is every address of the machine. Addresses that this machine does not have are
// left out, an error is returned if nothing is left. The caller must Close it.
func Listen(me Identity, at []netip.AddrPort) (*Listener, error) {
	l, err := listen(me, at)
	if err != nil {
		return nil, fmt.Errorf("rank %d: listening: %w", me.Rank, err)
	}
	return l, nil
}

func listen(me Identity, at []netip.AddrPort) (*Listener, error) {
	if err := me.check(); err != nil {
		return nil, err
	}
	key, err := me.derive("handshake")
	if err != nil {
		return nil, err
	}
	secure, err := secureConfig(me)
	if err != nil {
		return nil, err
	}
	sockets, err := bind(at)
	if err != nil {
		return nil, err
	}
	me.Secret = nil // from here on the keys do
	l := &Listener{
		answers: answerer{me: me, key: key, secure: secure},
		timeout: me.timeout(), sockets: sockets, pending: new(pending),
		finished: make(chan arrival), closing: make(chan struct{}),
	}
	for _, s := range sockets {
		l.running.Go(func() { l.accept(s) })
	}
	return l, nil
}

// Addrs returns where it listens: the addresses given to Listen, without those
// that this machine does not have, with their ports.
func (l *Listener) Addrs() []netip.AddrPort {
	var all []netip.AddrPort
	for _, s := range l.sockets {
		at := s.Addr().(*net.TCPAddr).AddrPort()
		all = append(all, netip.AddrPortFrom(at.Addr().Unmap(), at.Port()))
	}
	return all
}

// Accept waits for the next rank to connect and returns the connection, a
// *net.TCPConn, or a *tls.Conn with Encrypt, and the rank at its other end. Who
// does not finish the handshake never comes out. The connection has no deadline,
// TCP_NODELAY and no keepalive; the caller closes it. The error is net.ErrClosed
// after Close, and there is no other. Any number of goroutines may call it.
func (l *Listener) Accept() (net.Conn, int, error) {
	select {
	case a := <-l.finished:
		return a.conn, a.peer, nil
	case <-l.closing:
		return nil, -1, fmt.Errorf("rank %d: accepting: %w", l.answers.me.Rank, net.ErrClosed)
	}
}

// Close ends listening and every connection that Accept has not returned,
// handshakes under way included, and returns when nothing of the listener runs
// any more. Closing again does nothing.
func (l *Listener) Close() error {
	var errs []error
	l.once.Do(func() {
		close(l.closing)
		for _, s := range l.sockets {
			errs = append(errs, s.Close())
		}
		l.pending.close()
	})
	l.running.Wait()
	return errors.Join(errs...)
}

// The system is asked again after a failure (descriptors or memory ran out) at
// these intervals.
const (
	firstPause = time.Millisecond
	lastPause  = 200 * time.Millisecond
)

func (l *Listener) accept(socket *net.TCPListener) {
	pause := firstPause
	for {
		conn, err := socket.AcceptTCP()
		switch {
		case err == nil:
			pause = firstPause
			l.take(conn)
		case errors.Is(err, net.ErrClosed) || !l.rest(pause):
			return
		default:
			pause = min(2*pause, lastPause)
		}
	}
}

// rest returns false when the listener was closed meanwhile.
func (l *Listener) rest(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.closing:
		return false
	}
}

func (l *Listener) take(conn *net.TCPConn) {
	t, victim := l.pending.enter(conn)
	if t == nil {
		conn.Close()
		return
	}
	l.running.Go(func() { l.serve(t) })
	if victim != nil {
		victim.end()
	}
	// The scheduler would let this goroutine and those it drops take turns, and the
	// handshakes that have something to do wait.
	runtime.Gosched()
}

// serve takes one connection through its handshake and hands it to Accept.
func (l *Listener) serve(t *ticket) {
	defer close(t.ended)
	conn, peer, err := l.finish(t)
	if !t.leave() || err != nil {
		t.drop()
		return
	}
	select {
	case l.finished <- arrival{conn, peer}:
	case <-l.closing:
		t.drop()
	}
}

func (l *Listener) finish(t *ticket) (net.Conn, int, error) {
	if err := t.conn.SetDeadline(time.Now().Add(l.timeout)); err != nil {
		return nil, -1, err
	}
	conn, peer, err := l.answers.answer(t.conn, t)
	if err != nil {
		return nil, -1, err
	}
	return conn, peer, t.conn.SetDeadline(time.Time{})
}
