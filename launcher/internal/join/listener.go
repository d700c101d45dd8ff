package join

import (
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/keys"
)

const (
	// maxPending is how many connections may be open whose other end has proved
	// nothing.
	maxPending = 128
	// proveWait is how long it may take to.
	proveWait = 5 * time.Second
)

var errDropped = errors.New("dropped for a newer connection")

// A Listener accepts connections of those that hold the key: supervisors, or callers.
type Listener struct {
	// Refused, if it is not nil, is told of every connection that was not accepted,
	// one at a time. It must be set before Accept is called first.
	Refused func(from net.Addr, why error)

	socket  *net.TCPListener
	role    role
	config  atomic.Pointer[tls.Config]
	timeout time.Duration
	proved  chan net.Conn
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup
	once    sync.Once

	mu      sync.Mutex
	pending list.List // of *candidate, the oldest in front
	telling sync.Mutex
}

// A candidate is a connection whose other end has proved nothing.
type candidate struct {
	conn net.Conn
	drop context.CancelCauseFunc
}

// Listen listens at an address for supervisors. A connection that stays
// unacknowledged for timeout breaks.
func Listen(address string, key []byte, timeout time.Duration) (*Listener, error) {
	k, err := keys.New(key)
	if err != nil {
		return nil, err
	}
	return newListener(address, front, keys.Ring{k}, timeout)
}

// ListenAgent listens at an address for callers that hold any key of the ring. A
// connection that stays unacknowledged for timeout breaks.
func ListenAgent(address string, ring keys.Ring, timeout time.Duration) (*Listener, error) {
	return newListener(address, agent, ring, timeout)
}

// ListenGossip is ListenAgent for the streams of gossip.
func ListenGossip(address string, ring keys.Ring, timeout time.Duration) (*Listener, error) {
	return newListener(address, member, ring, timeout)
}

func newListener(address string, r role, ring keys.Ring, timeout time.Duration) (*Listener, error) {
	l := &Listener{role: r, timeout: timeout, proved: make(chan net.Conn)}
	if err := l.SetKeys(ring); err != nil {
		return nil, err
	}
	socket, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	l.socket = socket.(*net.TCPListener)
	l.ctx, l.stop = context.WithCancel(context.Background())
	return l, nil
}

// SetKeys changes the keys that connections are to prove from now on. Those that
// have proved theirs stay.
func (l *Listener) SetKeys(ring keys.Ring) error {
	proofs, err := newProofs(ring, l.role)
	if err != nil {
		return err
	}
	l.config.Store(listening(proofs))
	return nil
}

// Addr is where it listens.
func (l *Listener) Addr() net.Addr { return l.socket.Addr() }

// Accept waits for the next connection that has proved the key. net.ErrClosed: the
// listener is closed.
func (l *Listener) Accept() (net.Conn, error) {
	l.once.Do(func() { l.running.Go(l.listen) })
	select {
	case c := <-l.proved:
		return c, nil
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close stops listening and drops whoever has not been accepted.
func (l *Listener) Close() error {
	l.stop()
	err := l.socket.Close()
	l.running.Wait()
	return err
}

// listen takes connections until the listener is closed.
func (l *Listener) listen() {
	for {
		conn, err := l.socket.AcceptTCP()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			l.refuse(l.Addr(), err) // out of descriptors, for instance
			select {
			case <-time.After(10 * time.Millisecond):
				continue
			case <-l.ctx.Done():
				return
			}
		}
		l.enter(conn)
	}
}

// enter has a connection prove the key in a goroutine of its own.
func (l *Listener) enter(conn *net.TCPConn) {
	ctx, drop := context.WithCancelCause(l.ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending.Len() == maxPending {
		l.pending.Remove(l.pending.Front()).(*candidate).drop(errDropped)
	}
	place := l.pending.PushBack(&candidate{conn, drop})
	l.running.Go(func() {
		proved, err := l.prove(ctx, conn)
		l.mu.Lock()
		l.pending.Remove(place) // nothing, if it was dropped
		l.mu.Unlock()
		drop(nil)
		if err != nil {
			conn.Close()
			l.refuse(conn.RemoteAddr(), err)
			return
		}
		select {
		case l.proved <- proved:
		case <-l.ctx.Done():
			proved.Close()
		}
	})
}

// prove returns the connection once both ends have proved the key.
func (l *Listener) prove(ctx context.Context, conn *net.TCPConn) (net.Conn, error) {
	if err := tune(conn, l.timeout); err != nil {
		return nil, err
	}
	guarded := &limited{TCPConn: conn, left: readBudget}
	secure := tls.Server(guarded, l.config.Load())
	ctx, cancel := context.WithTimeoutCause(ctx, proveWait, fmt.Errorf("it has proved nothing for %v", proveWait))
	defer cancel()
	err := secure.HandshakeContext(ctx)
	if err == nil {
		err = welcome(secure)
	}
	if ctx.Err() != nil && err != nil {
		err = context.Cause(ctx)
	}
	guarded.lift()
	return secure, err
}

// welcome tells the other end that its key was accepted: TLS does not.
func welcome(c net.Conn) error {
	c.SetWriteDeadline(time.Now().Add(proveWait))
	_, err := c.Write([]byte{accepted})
	c.SetWriteDeadline(time.Time{})
	return err
}

// accepted is the first byte on an accepted connection.
const accepted = 1

func (l *Listener) refuse(from net.Addr, why error) {
	l.telling.Lock()
	defer l.telling.Unlock()
	if l.Refused != nil && l.ctx.Err() == nil {
		l.Refused(from, why)
	}
}
