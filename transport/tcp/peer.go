package tcp

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/tcp/wire"
)

// A peer is another rank, or this one, as this endpoint knows it. It is made by
// the first Dial to the rank or the first connection from it, and stays; its
// connection is made once, and when that has ended there is no other.
type peer struct {
	e    *endpoint
	rank int
	self bool // there is no connection: it is this rank

	link link // guarded by endpoint.mu: how far the connection has been made
	// The connection, once there is one: a socket, or with Encrypt what wraps it. Both
	// are set with tx.mu and taken away with rx.mu and tx.mu held.
	fd     int  // -1: none
	near   bool // it is on this host
	secure *encrypted
	watch  watch

	rx receiver
	tx sender
	in inbox

	life  life
	gen   atomic.Uint64 // counts what may let a blocked call go on
	ended atomic.Pointer[ending]
}

// An ending is why a peer can be used no more: its error wraps ErrClosed or
// ErrPeerFailed.
type ending struct{ err error }

func (p *peer) end() error {
	if x := p.ended.Load(); x != nil {
		return x.err
	}
	return nil
}

// changed lets blocked calls look again.
func (p *peer) changed() {
	p.gen.Add(1)
	p.e.wakeBlocked()
}

// fail ends the connection: operations in flight end with err, as will later
// ones, and Poll learns that nothing more arrives. Called with rx.mu held.
func (p *peer) fail(err error) {
	p.tx.mu.Lock()
	defer p.tx.mu.Unlock()
	if p.end() != nil {
		return
	}
	p.tx.settle(p) // what the peer has said last still counts
	if p.tx.broken != nil && !errors.Is(err, transport.ErrClosed) {
		err = p.tx.broken
	}
	err = fmt.Errorf("tcp: rank %d: %w", p.rank, err)
	p.ended.Store(&ending{err})
	p.tx.abandon(p, err)
	p.closeSocket()
	p.e.arrivals.mu.Lock()
	p.in.over = err
	p.e.arrivals.announce(p)
	p.e.arrivals.mu.Unlock()
	p.changed()
}

// connected tells whether there is a connection. Called with tx.mu held.
func (p *peer) connected() bool { return p.fd >= 0 || p.secure != nil }

// closeSocket gives the descriptor back. Called with rx.mu and tx.mu held.
func (p *peer) closeSocket() {
	if p.secure != nil {
		p.secure.drop()
		p.secure = nil
	}
	if p.fd < 0 {
		return
	}
	p.e.watcher.forget(p)
	_ = unix.Close(p.fd)
	p.fd = -1
}

// failed wraps what went wrong with a connection.
func failed(what string, err error) error {
	return fmt.Errorf("%s: %w: %w", what, err, transport.ErrPeerFailed)
}

// peerAt returns the peer of a rank, made if need be.
//
// Precondition: 0 <= rank < size.
func (e *endpoint) peerAt(rank int) *peer {
	if p := e.peers[rank].Load(); p != nil {
		return p
	}
	p := &peer{e: e, rank: rank, self: rank == e.cfg.Rank, fd: -1}
	p.in.store = &e.chunks
	p.link.changed = make(chan struct{})
	if !e.peers[rank].CompareAndSwap(nil, p) {
		return e.peers[rank].Load()
	}
	return p
}

// A receiver is the reading side of a connection.
type receiver struct {
	mu     sync.Mutex // held by whoever reads: Poll, or the endpoint's goroutine
	reader wire.Reader
	served atomic.Uint64 // Seq of the last frame that has been dealt with
	bytes  atomic.Uint64 // read so far: a sign of life

	wanted    uint32 // Seq of the last frame that wants an Ack
	poke      bool   // the sender has something to do
	hands     *hands // Poll reads, and hands Messages out at once; nil: no
	handed    bool   // it has, since it reads this peer
	operand   [wire.WordBytes]byte
	refusal   uint8 // why the frame under way is refused
	flood     bool  // the last read brought many short frames
	streaming bool  // the last frame was long, so the next may be
}
